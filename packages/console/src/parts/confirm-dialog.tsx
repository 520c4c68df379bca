import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorNote } from "./error-note.tsx";
import { Field, TextInput } from "./field.tsx";

interface ConfirmDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** What will be so afterwards. */
  readonly description: ReactNode;
  /** A verb with its object: "Roll back production". */
  readonly action: string;
  readonly kind?: "primary" | "danger";
  /** What must be typed first, for what cannot be brought back. */
  readonly typed?: string;
  readonly onConfirm: () => Promise<unknown>;
}

/** Asks once, says what will be so afterwards, and stays open with the error if it did not work. */
export function ConfirmDialog({ action, kind = "primary", typed, onConfirm, ...dialog }: ConfirmDialogProps) {
  const [text, setText] = useState("");
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: () => dialog.onClose() });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    confirm.mutate();
  };
  return (
    <Dialog {...dialog}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        {typed !== undefined && (
          <Field label={`Type ${typed} to confirm`}>
            {(ids) => <TextInput {...ids} value={text} onChange={({ target }) => setText(target.value)} />}
          </Field>
        )}
        {confirm.error && <ErrorNote error={confirm.error} />}
        <div className="flex justify-end gap-2">
          <Button kind="quiet" onClick={dialog.onClose}>
            Cancel
          </Button>
          <Button
            kind={kind}
            type="submit"
            working={confirm.isPending}
            disabled={typed !== undefined && text !== typed}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
