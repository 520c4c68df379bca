import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Field, TextInput } from "../../../parts/field.tsx";

interface CodeFormProps {
  readonly label: string;
  readonly hint: string;
  /** A verb with its object: "Confirm second factor". */
  readonly action: string;
  readonly kind?: "primary" | "danger";
  readonly onSubmit: (code: string) => Promise<unknown>;
}

/** Asks for a code. A wrong one is cleared, because each code counts once. */
export function CodeForm({ label, hint, action, kind = "primary", onSubmit }: CodeFormProps) {
  const [code, setCode] = useState("");
  const send = useMutation({
    mutationFn: async () => void (await onSubmit(code.trim())),
    onSettled: () => setCode(""),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send.mutate();
  };
  return (
    <form onSubmit={submit} className="flex max-w-md flex-col items-start gap-2">
      <Field label={label} hint={hint}>
        {(ids) => (
          <TextInput
            {...ids}
            className="max-w-48 font-mono"
            autoComplete="one-time-code"
            maxLength={64}
            value={code}
            onChange={({ target }) => setCode(target.value)}
          />
        )}
      </Field>
      {send.error && <ErrorNote error={send.error} />}
      <Button kind={kind} type="submit" working={send.isPending} disabled={code.trim().length < 6}>
        {action}
      </Button>
    </form>
  );
}
