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

interface ConfirmFormProps extends Omit<ConfirmDialogProps, "open" | "title" | "description"> {
  readonly onWorking: (isWorking: boolean) => void;
}

/** Goes when the dialog closes: what was typed and what failed is no part of the next question. */
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

/** Asks once, says what will be so afterwards, and stays open with the error if it did not work. */
export function ConfirmDialog({ open, title, description, ...form }: ConfirmDialogProps) {
  // Closed while it works, it would look as if nothing were done.
  const [isWorking, setIsWorking] = useState(false);
  return (
    <Dialog open={open} onClose={form.onClose} title={title} description={description} isFirm={isWorking}>
      <ConfirmForm {...form} onWorking={setIsWorking} />
    </Dialog>
  );
}
