import { useBlocker } from "@tanstack/react-router";
import { DiscardDialog } from "../parts/discard-dialog.tsx";
import { hasUnsaved, useUnsaved } from "./unsaved.ts";

interface LeaveGuardProps {
  readonly isDirty: boolean;
  /** A sentence about the work that would be lost. */
  readonly description: string;
}

/** Asks before unsaved changes are lost, by a link, the back button or closing the window. */
export function LeaveGuard({ isDirty, description }: LeaveGuardProps) {
  useUnsaved(isDirty);
  const { status, proceed, reset } = useBlocker({
    // Other views of the same page still have the typed text.
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: hasUnsaved,
    withResolver: true,
  });
  return (
    <DiscardDialog
      open={status === "blocked"}
      title="Leave without saving"
      description={description}
      keep="Stay on this page"
      onKeep={() => reset?.()}
      discard="Discard changes and leave"
      onDiscard={() => proceed?.()}
    />
  );
}
