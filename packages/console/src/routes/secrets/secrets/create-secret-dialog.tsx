import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { problemsByField } from "../../../api/problems-by-field.ts";
import { createSecret } from "../../../api/secrets-queries.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogForm } from "../../../parts/dialog-form.tsx";
import { Field, Select, TextInput } from "../../../parts/field.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { hostsOf } from "./hosts.ts";
import { ApprovalField, HostsField, hostsProblem, ValueField } from "./secret-fields.tsx";

interface CreateSecretDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  /** The agent whose secrets the page shows. */
  readonly agent: string | undefined;
  /** The caller has access to this agent only. */
  readonly isOnlyAgent: boolean;
}

function CreateSecretForm({ onClose, agent, isOnlyAgent }: Omit<CreateSecretDialogProps, "open">) {
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const [hosts, setHosts] = useState("");
  const [isApproved, setIsApproved] = useState(false);
  const [isOfAgent, setIsOfAgent] = useState(agent !== undefined);
  const create = useMutation({
    gcTime: 0,
    mutationFn: () =>
      createSecret(isOfAgent ? agent : undefined, {
        ...{ name, value, hosts: hostsOf(hosts) },
        approval: isApproved ? "required" : null,
      }),
    onSuccess: onClose,
  });
  const problems = problemsByField(create.error);
  return (
    <DialogForm
      action="Create secret"
      isWorking={create.isPending}
      error={create.error}
      onSubmit={create.mutate}
      onCancel={onClose}
    >
      <Field
        label="Name"
        hint={`Definitions refer to it as {{secret.${visibleText(name) || "name"}}}.`}
        problem={problems.get("name")}
      >
        {(ids) => (
          <TextInput
            {...ids}
            required
            maxLength={63}
            placeholder="github_token"
            className="font-mono"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        )}
      </Field>
      <ValueField
        label="Value"
        hint="Stored encrypted. It is never shown again, here or anywhere else."
        isRequired
        value={value}
        onChange={setValue}
        problem={problems.get("value")}
      />
      <HostsField value={hosts} onChange={setHosts} problem={hostsProblem(problems)} />
      <ApprovalField isRequired={isApproved} onChange={setIsApproved} />
      {agent !== undefined && !isOnlyAgent && (
        <Field label="For" hint="A secret of an agent takes precedence over the organisation's of the same name.">
          {(ids) => (
            <Select
              {...ids}
              value={isOfAgent ? "agent" : "organisation"}
              onChange={({ target }) => setIsOfAgent(target.value === "agent")}
              className="max-w-full"
            >
              <option value="agent">{visibleText(agent)} alone</option>
              <option value="organisation">all agents</option>
            </Select>
          )}
        </Field>
      )}
    </DialogForm>
  );
}

export const CreateSecretDialog = ({ open, ...rest }: CreateSecretDialogProps) => (
  <Dialog
    open={open}
    onClose={rest.onClose}
    title="Create secret"
    description="A key or token that Perch puts into calls to tools and models. The model never sees it."
  >
    <CreateSecretForm {...rest} />
  </Dialog>
);
