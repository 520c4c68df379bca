import type { Secret } from "@perch/sdk";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { problemsByField } from "../../../api/problems-by-field.ts";
import { type SecretOwner, secretQuery, updateSecret } from "../../../api/secrets-queries.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogActions } from "../../../parts/dialog-actions.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { Working } from "../../../parts/working.tsx";
import { hostsOf, newHosts } from "./hosts.ts";
import { HostsField, hostsProblem, ValueField } from "./secret-fields.tsx";

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
  const [hosts, setHosts] = useState(secret.hosts.join("\n"));
  const added = newHosts(secret.hosts, hosts);
  const save = useMutation({
    gcTime: 0,
    mutationFn: () => updateSecret(owner, secret.name, { hosts: hostsOf(hosts), ...(value !== "" && { value }) }),
    onSuccess: onClose,
  });
  const problems = problemsByField(save.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const hint =
    added.length === 0
      ? "Empty: the value stays as it is."
      : `Needed again, because ${visibleText(added.join(", "))} is new: nobody may have a stored secret sent elsewhere.`;
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <HostsField value={hosts} onChange={setHosts} problem={hostsProblem(problems)} isFirst />
      <ValueField
        label="New value"
        hint={hint}
        isRequired={added.length > 0}
        value={value}
        onChange={setValue}
        problem={problems.get("value")}
      />
      {save.error && <ErrorNote error={save.error} />}
      <DialogActions>
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button kind="primary" type="submit" working={save.isPending}>
          Save secret
        </Button>
      </DialogActions>
    </form>
  );
}

/** It begins with the newest state: what the list shows may be a while old. */
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
