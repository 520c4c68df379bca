import type { FormEvent, ReactNode } from "react";
import { Button } from "./button.tsx";
import { DialogActions } from "./dialog-actions.tsx";
import { ErrorNote } from "./error-note.tsx";

interface DialogFormProps {
  /** A verb with its object: "Create key". */
  readonly action: string;
  readonly kind?: "primary" | "danger";
  readonly canSubmit?: boolean;
  readonly isWorking?: boolean;
  /** False while the dialog creates a value that is shown only once, or sends a request that Cancel cannot call back. */
  readonly canCancel?: boolean;
  readonly error?: Error | null;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
  readonly children: ReactNode;
}

/** The fields of a dialog, the error if the request failed, and the buttons. */
export function DialogForm({
  action,
  kind = "primary",
  canSubmit = true,
  isWorking = false,
  canCancel = true,
  error,
  onSubmit,
  onCancel,
  children,
}: DialogFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // React passes the event on to a form around the dialog, although the dialog is elsewhere in the DOM.
    event.stopPropagation();
    if (canSubmit && !isWorking) onSubmit();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      {children}
      {error && <ErrorNote error={error} />}
      <DialogActions>
        <Button kind="quiet" disabled={!canCancel} onClick={onCancel}>
          Cancel
        </Button>
        <Button kind={kind} type="submit" working={isWorking} disabled={!canSubmit}>
          {action}
        </Button>
      </DialogActions>
    </form>
  );
}
