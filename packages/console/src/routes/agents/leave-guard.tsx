import { useBlocker } from "@tanstack/react-router";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { useUnsaved } from "../../../session/unsaved.ts";

/** Asks before unsaved changes are lost, by a link, the back button or closing the window. */
export function LeaveGuard({ isDirty }: { readonly isDirty: boolean }) {
  useUnsaved(isDirty);
  const { status, proceed, reset } = useBlocker({
    // Other views of the same page keep what was typed.
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  return (
    <Dialog
      open={status === "blocked"}
      onClose={() => reset?.()}
      title="Leave without saving"
      description="Your changes to the definition are not saved. They are lost when you leave this page."
    >
      <div className="flex justify-end gap-2">
        <Button kind="danger" onClick={() => proceed?.()}>
          Discard changes and leave
        </Button>
        <Button kind="primary" onClick={() => reset?.()}>
          Stay on this page
        </Button>
      </div>
    </Dialog>
  );
}
