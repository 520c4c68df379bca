import type { Secret } from "@perch/sdk";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { problemsByField } from "../../../api/problems-by-field.ts";
import { type SecretOwner, secretQuery, updateSecret } from "../../../api/secrets-queries.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogForm } from "../../../parts/dialog-form.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { Working } from "../../../parts/working.tsx";
import { newHosts, toUpdate } from "./hosts.ts";
import { ApprovalField, HostsField, hostsProblem, ValueField } from "./secret-fields.tsx";

interface ChangeSecretDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly owner: SecretOwner;
  readonly name: string;
}

interface FormProps extends Omit<ChangeSecretDialogProps, "open" | "name"> {
  readonly secret: Secret;
}

function ChangeSecretForm({ onClose, owner, secret }: FormProps) {
  const [value, setValue] = useState("");
  const [before] = useState(secret);
  const [hosts, setHosts] = useState(before.hosts.join("\n"));
  const [isApproved, setIsApproved] = useState(before.approval === "required");
  const added = newHosts(before.hosts, hosts);
  const save = useMutation({
    gcTime: 0,
    mutationFn: () => updateSecret(owner, secret.name, toUpdate(before, { hosts, value, isApproved })),
    onSuccess: onClose,
  });
  const problems = problemsByField(save.error);
  const hint =
    added.length === 0
      ? "Empty: the value stays as it is."
      : `Needed again, because ${visibleText(added.join(", "))} is new, and a stored secret is not sent to new hosts.`;
  return (
    <DialogForm
      action="Save secret"
      isWorking={save.isPending}
      error={save.error}
      onSubmit={save.mutate}
      onCancel={onClose}
    >
      <HostsField value={hosts} onChange={setHosts} problem={hostsProblem(problems)} isFirst />
      <ApprovalField isRequired={isApproved} onChange={setIsApproved} />
      <ValueField
        label="New value"
        hint={hint}
        isRequired={added.length > 0}
        value={value}
        onChange={setValue}
        problem={problems.get("value")}
      />
    </DialogForm>
  );
}

/** Loads the newest state, because the list may be out of date. */
function NewestSecret({ owner, name, onClose }: Omit<ChangeSecretDialogProps, "open">) {
  const { data: secret, error, refetch } = useQuery(secretQuery(owner, name));
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  return secret ? <ChangeSecretForm owner={owner} secret={secret} onClose={onClose} /> : <Working what="the secret" />;
}

export const ChangeSecretDialog = ({ open, ...rest }: ChangeSecretDialogProps) => (
  <Dialog
    open={open}
    onClose={rest.onClose}
    title={`Change ${visibleText(rest.name)}`}
    description="It applies from the next call on."
  >
    <NewestSecret {...rest} />
  </Dialog>
);
