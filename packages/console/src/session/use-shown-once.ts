import { useMutation } from "@tanstack/react-query";
import { useBlocker } from "@tanstack/react-router";
import { useState } from "react";
import { hasUnsaved, useUnsaved } from "./unsaved.ts";

/** What a dialog makes that the server shows this once. */
export interface MadeOnce<Value> {
  readonly value: Value | undefined;
  readonly make: (request: () => Promise<Value>) => void;
  readonly isMaking: boolean;
  readonly error: Error | null;
  /** From the request on, until somebody says that the value is copied. */
  readonly isFirm: boolean;
  /** Does nothing while the value is on its way: it would arrive where nobody sees it. */
  readonly close: () => void;
}

/**
 * Keeps dialog and page open from the request on, against Escape, the back button and closing the window, and also if the session ends meanwhile:
 * the value would be lost.
 */
export function useShownOnce<Value>(onClose: (value: Value | undefined) => void): MadeOnce<Value> {
  const [value, setValue] = useState<Value>();
  const making = useMutation({
    // The value goes to the dialog alone: what a mutation returns is kept for minutes.
    gcTime: 0,
    mutationFn: async (request: () => Promise<Value>) => {
      const made = await request();
      setValue(() => made);
    },
  });
  const isFirm = making.isPending || value !== undefined;
  useUnsaved(isFirm);
  useBlocker({ shouldBlockFn: () => isFirm, enableBeforeUnload: hasUnsaved });
  const close = () => {
    if (making.isPending) return;
    setValue(undefined);
    making.reset();
    onClose(value);
  };
  return { value, make: making.mutate, isMaking: making.isPending, error: making.error, isFirm, close };
}
