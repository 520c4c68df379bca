import { useMutation } from "@tanstack/react-query";
import { useBlocker } from "@tanstack/react-router";
import { useState } from "react";
import { hasUnsaved, useUnsaved } from "./unsaved.ts";

/** The state of a dialog that creates a value which the server shows only once. */
export interface MadeOnce<Value> {
  readonly value: Value | undefined;
  readonly make: (request: () => Promise<Value>) => void;
  readonly isMaking: boolean;
  readonly error: Error | null;
  /** True from the request until the user confirms that the value is copied. */
  readonly isFirm: boolean;
  /** Does nothing while the value is on its way, because it would arrive after the dialog has closed. */
  readonly close: () => void;
}

/**
 * Blocks Escape, the back button and closing the window from the request on, and stays open even if the session ends meanwhile, because the
 * value would be lost.
 */
export function useShownOnce<Value>(onClose: (value: Value | undefined) => void): MadeOnce<Value> {
  const [value, setValue] = useState<Value>();
  const making = useMutation({
    // Only the dialog stores the value: the result of a mutation would be cached for minutes.
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
