import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { agentNamesQuery } from "../../../api/agents-queries.ts";
import { Field, TextInput } from "../../../parts/field.tsx";
import { SuggestedInput } from "../../../parts/suggested-input.tsx";
import { useCan, useMe } from "../../../session/session.ts";
import { type SubscribableEvent, subscribableEvents, subscribableNames } from "../event-types.ts";
import { HeaderFields } from "./header-fields.tsx";
import type { WebhookDraft } from "./webhook-draft.ts";

interface CheckProps {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly label: ReactNode;
  readonly hint: string;
}

const Check = ({ checked, onChange, label, hint }: CheckProps) => (
  <label className="flex items-start gap-2">
    <input
      type="checkbox"
      className="mt-0.5 size-4 shrink-0 accent-accent"
      checked={checked}
      onChange={({ target }) => onChange(target.checked)}
    />
    <span className="min-w-0 text-table">
      {label}
      <span className="block text-muted text-small">{hint}</span>
    </span>
  </label>
);

interface WebhookFieldsProps {
  readonly draft: WebhookDraft;
  readonly onChange: (draft: WebhookDraft) => void;
  /** The server's messages about each field. */
  readonly problems: ReadonlyMap<string, string>;
  readonly isNew: boolean;
}

/** A key of one agent can subscribe only to that agent. */
function AgentField({ draft, onChange, problems }: WebhookFieldsProps) {
  const isLimited = useMe().key.agent_id !== null;
  const { data: names = [] } = useQuery(agentNamesQuery);
  if (isLimited) return null;
  return (
    <Field
      label="Agent"
      hint="Only events of this agent. Empty: of all agents. It cannot be changed later."
      problem={problems.get("agent_id")}
    >
      {(ids) => (
        <SuggestedInput
          {...ids}
          placeholder="all agents"
          value={draft.agent}
          onChange={(agent) => onChange({ ...draft, agent })}
          suggestions={names}
        />
      )}
    </Field>
  );
}

/** The fields of a webhook, to create one or to change it. */
export function WebhookFields(props: WebhookFieldsProps) {
  const { draft, onChange, problems, isNew } = props;
  const canManage = useCan("manage");
  const toggle = (name: SubscribableEvent, isChosen: boolean) =>
    onChange({
      ...draft,
      events: subscribableNames.filter((each) => (each === name ? isChosen : draft.events.includes(each))),
    });
  const headersProblem = [...problems].find(([field]) => field.startsWith("headers"))?.[1];
  return (
    <>
      <Field label="Address" hint="An https address that answers each delivery with 2xx." problem={problems.get("url")}>
        {(ids) => (
          <TextInput
            {...ids}
            required
            type="url"
            maxLength={2048}
            placeholder="https://hooks.example.com/perch"
            value={draft.url}
            onChange={({ target }) => onChange({ ...draft, url: target.value })}
          />
        )}
      </Field>
      {isNew && <AgentField {...props} />}
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 font-medium text-table">Events</legend>
        <div className="grid gap-2 sm:grid-cols-2">
          {subscribableNames.map((name) => (
            <Check
              key={name}
              checked={draft.events.includes(name)}
              onChange={(checked) => toggle(name, checked)}
              label={<code className="font-mono text-small">{name}</code>}
              hint={subscribableEvents[name]}
            />
          ))}
        </div>
        {(draft.events.length === 0 || problems.has("events")) && (
          <p className="text-danger text-small">{problems.get("events") ?? "Choose at least one event."}</p>
        )}
      </fieldset>
      <HeaderFields
        headers={draft.headers}
        onChange={(headers) => onChange({ ...draft, headers })}
        problem={headersProblem}
      />
      {canManage && (
        <Check
          checked={draft.approvalLinks}
          onChange={(approvalLinks) => onChange({ ...draft, approvalLinks })}
          label="Approval links"
          hint="Deliveries of agent.action_required contain a link. A person who opens it can decide once."
        />
      )}
    </>
  );
}
