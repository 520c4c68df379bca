import type { Webhook } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { useAgentName } from "../../../lists/use-agent-name.ts";
import { Ago } from "../../../parts/ago.tsx";
import { ArrowRows } from "../../../parts/arrow-rows.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { Cell, RowName, roomyOnly, Table, tightOnly } from "../../../parts/table.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { WebhookState } from "../webhook-state.tsx";

const columns = [
  { title: "Address", className: "w-2/5 @max-2xl:w-auto" },
  { title: "Status", className: "w-56 @max-2xl:w-36" },
  { title: "Events", className: roomyOnly },
  { title: "Agent", className: `w-40 ${roomyOnly}` },
  { title: "Created", className: `w-24 text-right ${roomyOnly}` },
];

/** Since when it fails, or why it was disabled: the first thing that the user must know. */
const Trouble = ({ webhook: { status, failing_since, disabled_reason } }: { readonly webhook: Webhook }) => {
  if (status === "disabled")
    return <OutsideText text={disabled_reason ?? "Disabled by hand."} className="text-muted text-small" />;
  return failing_since === null ? null : (
    <span className="text-muted text-small">
      since <Ago at={failing_since} />
    </span>
  );
};

const Row = ({ webhook }: { readonly webhook: Webhook }) => {
  const nameOf = useAgentName();
  const agent = webhook.agent_id === null ? "all agents" : visibleText(nameOf(webhook.agent_id));
  return (
    <tr className="relative hover:bg-sunken">
      <RowName className="max-w-0 align-top">
        <Link
          to="/webhooks/$webhook"
          params={{ webhook: webhook.id }}
          data-row
          className="block truncate font-mono text-small leading-6 after:absolute after:inset-0 after:content-[''] [unicode-bidi:plaintext]"
        >
          {visibleText(webhook.url)}
        </Link>
        <span className={`block text-muted text-small [overflow-wrap:anywhere] ${tightOnly}`}>
          {agent}: {webhook.events.map(visibleText).join(", ")}
        </span>
      </RowName>
      <Cell className="align-top leading-6">
        <span className="flex flex-col items-start">
          <WebhookState webhook={webhook} />
          <Trouble webhook={webhook} />
        </span>
      </Cell>
      <Cell className={`align-top text-muted text-small leading-6! ${roomyOnly}`}>
        {webhook.events.map(visibleText).join(", ")}
      </Cell>
      <Cell className={`max-w-40 truncate align-top leading-6 ${roomyOnly}`}>{agent}</Cell>
      <Cell className={`text-right align-top text-muted leading-6 ${roomyOnly}`}>
        <Ago at={webhook.created_at} />
      </Cell>
    </tr>
  );
};

export const WebhookTable = ({ webhooks }: { readonly webhooks: readonly Webhook[] }) => (
  <ArrowRows>
    <Table caption="Webhooks, newest first" columns={columns}>
      {webhooks.map((webhook) => (
        <Row key={webhook.id} webhook={webhook} />
      ))}
    </Table>
  </ArrowRows>
);
