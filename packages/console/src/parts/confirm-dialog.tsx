import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Dialog } from "./dialog.tsx";
import { DialogForm } from "./dialog-form.tsx";
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
  return (
    <Dialog {...dialog}>
      <DialogForm
        action={action}
        kind={kind}
        canSubmit={typed === undefined || text === typed}
        isWorking={confirm.isPending}
        error={confirm.error}
        onSubmit={confirm.mutate}
        onCancel={dialog.onClose}
      >
        {typed !== undefined && (
          <Field label={`Type ${typed} to confirm`}>
            {(ids) => <TextInput {...ids} value={text} onChange={({ target }) => setText(target.value)} />}
          </Field>
        )}
      </DialogForm>
    </Dialog>
  );
}
