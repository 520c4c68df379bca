import type { CreatedApiKey } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { agentNamesQuery } from "../../../api/agents-queries.ts";
import { keysChanged } from "../../../api/keys-queries.ts";
import { perch } from "../../../api/perch.ts";
import { problemsByField } from "../../../api/problems-by-field.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { Field } from "../../../parts/field.tsx";
import { SuggestedInput } from "../../../parts/suggested-input.tsx";
import { MakeOnceForm } from "../../../session/make-once-form.tsx";
import { useMe } from "../../../session/session.ts";
import { ShownValue } from "../../../session/shown-value.tsx";
import { type MadeOnce, useShownOnce } from "../../../session/use-shown-once.ts";
import { lifetimesUntil, toExpiresAt } from "../expiry-choice.ts";
import { type Access, toGrant } from "../grant.ts";
import { AccessField, ExpiryField, NameField } from "../key-fields.tsx";

interface AgentFieldProps {
  readonly value: string;
  readonly onChange: (agent: string) => void;
  readonly problem: string | undefined;
}

function AgentField({ value, onChange, problem }: AgentFieldProps) {
  const { data: names = [] } = useQuery(agentNamesQuery);
  return (
    <Field label="Agent" hint="The only agent that the key can access. Empty: all agents." problem={problem}>
      {(ids) => <SuggestedInput {...ids} value={value} onChange={onChange} suggestions={names} />}
    </Field>
  );
}

interface CreateKeyFormProps {
  readonly agent: string | undefined;
  readonly made: MadeOnce<CreatedApiKey>;
}

function CreateKeyForm({ agent: chosenAgent, made }: CreateKeyFormProps) {
  const { key: mine } = useMe();
  const [name, setName] = useState("");
  const [access, setAccess] = useState<Access>({ role: "viewer", permissions: ["read"] });
  const [agent, setAgent] = useState(mine.agent_id ?? chosenAgent ?? "");
  const [expiry, setExpiry] = useState(() => ({
    choice: mine.expires_at === null ? "never" : (lifetimesUntil(mine.expires_at, new Date())[0] ?? "at"),
    at: "",
  }));
  const create = async () => {
    const expiresAt = toExpiresAt(expiry, new Date());
    const key = await perch.keys.create({
      name,
      ...toGrant(access),
      agent_id: agent.trim() || undefined,
      expires_at: expiresAt ?? undefined,
    });
    void keysChanged();
    return key;
  };
  const problems = problemsByField(made.error);
  return (
    <MakeOnceForm action="Create key" made={made} make={create}>
      <NameField value={name} onChange={setName} problem={problems.get("name")} />
      <AccessField value={access} onChange={setAccess} problem={problems.get("permissions") ?? problems.get("role")} />
      {mine.agent_id === null && <AgentField value={agent} onChange={setAgent} problem={problems.get("agent_id")} />}
      <ExpiryField value={expiry} onChange={setExpiry} problem={problems.get("expires_at")} />
    </MakeOnceForm>
  );
}

interface CreateKeyDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  /** The agent that the list is filtered by. */
  readonly agent: string | undefined;
}

export function CreateKeyDialog({ open, onClose, agent }: CreateKeyDialogProps) {
  const made = useShownOnce<CreatedApiKey>(onClose);
  const { value: created, close } = made;
  return (
    <Dialog
      open={open}
      onClose={close}
      isFirm={made.isFirm}
      title="Create key"
      description="A program or a person uses the API with it. It cannot do more than you can."
    >
      {created ? (
        <ShownValue what="the key" value={created.key} onClose={close}>
          <p className="text-muted text-table">
            Send it as <code className="font-mono">Authorization: Bearer …</code>, or set it as{" "}
            <code className="font-mono">PERCH_API_KEY</code> for the command line and the SDKs.
          </p>
        </ShownValue>
      ) : (
        <CreateKeyForm agent={agent} made={made} />
      )}
    </Dialog>
  );
}
