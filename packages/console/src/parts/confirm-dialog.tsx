import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Dialog } from "./dialog.tsx";
import { DialogForm } from "./dialog-form.tsx";
import { Field, TextInput } from "./field.tsx";

interface ConfirmDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** The state after the action. */
  readonly description: ReactNode;
  /** A verb with its object: "Roll back production". */
  readonly action: string;
  readonly kind?: "primary" | "danger";
  /** The text that the user must type first, for an action that cannot be undone. */
  readonly typed?: string;
  readonly onConfirm: () => Promise<unknown>;
}

interface ConfirmFormProps extends Omit<ConfirmDialogProps, "open" | "title" | "description"> {
  readonly onWorking: (isWorking: boolean) => void;
}

/** Unmounted when the dialog closes, so that the next one starts without the typed text and the error. */
function ConfirmForm({ action, kind = "primary", typed, onConfirm, onClose, onWorking }: ConfirmFormProps) {
  const [text, setText] = useState("");
  const confirm = useMutation({
    mutationFn: onConfirm,
    onMutate: () => onWorking(true),
    onSuccess: () => onClose(),
    onSettled: () => onWorking(false),
  });
  return (
    <DialogForm
      action={action}
      kind={kind}
      canSubmit={typed === undefined || text === typed}
      isWorking={confirm.isPending}
      canCancel={!confirm.isPending}
      error={confirm.error}
      onSubmit={confirm.mutate}
      onCancel={onClose}
    >
      {typed !== undefined && (
        <Field label={`Type ${typed} to confirm`}>
          {(ids) => <TextInput {...ids} value={text} onChange={({ target }) => setText(target.value)} />}
        </Field>
      )}
    </DialogForm>
  );
}

/** Asks once, describes the state after the action, and stays open with the error if the action fails. */
export function ConfirmDialog({ open, title, description, ...form }: ConfirmDialogProps) {
  // If it closed while the request runs, the action would seem not to happen.
  const [isWorking, setIsWorking] = useState(false);
  return (
    <Dialog open={open} onClose={form.onClose} title={title} description={description} isFirm={isWorking}>
      <ConfirmForm {...form} onWorking={setIsWorking} />
    </Dialog>
  );
}
