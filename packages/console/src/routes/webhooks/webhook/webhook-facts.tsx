import type { Webhook } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { useAgentName } from "../../../lists/use-agent-name.ts";
import { useKeyName } from "../../../lists/use-key-name.ts";
import { Ago } from "../../../parts/ago.tsx";
import { Fact, Facts } from "../../../parts/facts.tsx";
import { IdText } from "../../../parts/id-text.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";
import { WebhookState } from "../webhook-state.tsx";

/** The reason why nothing is delivered, before anything else. */
const Trouble = ({ webhook: { status, failing_since, disabled_reason } }: { readonly webhook: Webhook }) => {
  if (status === "disabled")
    return (
      <p className="mb-2 rounded border border-warning bg-warning-soft px-3 py-1.5 text-table">
        {disabled_reason === null ? (
          "A user has disabled this webhook: nothing is delivered until it is enabled again."
        ) : (
          <OutsideText text={`Perch has disabled this webhook: ${disabled_reason}`} />
        )}
      </p>
    );
  return (
    failing_since !== null && (
      <p className="mb-2 rounded border border-danger bg-danger-soft px-3 py-1.5 text-table">
        Every attempt has failed since <Ago at={failing_since} />. After five days without success it is disabled.
      </p>
    )
  );
};

export function WebhookFacts({ webhook }: { readonly webhook: Webhook }) {
  const [agentName, keyName] = [useAgentName(), useKeyName()];
  const headers = Object.entries(webhook.headers);
  return (
    <div className="pb-3">
      <Trouble webhook={webhook} />
      <Facts>
        <Fact name="Status">
          <WebhookState webhook={webhook} />
        </Fact>
        <Fact name="Agent">
          {webhook.agent_id === null ? (
            "all agents"
          ) : (
            <Link to="/agents/$agent" params={{ agent: agentName(webhook.agent_id) }} className={textLinkClass}>
              <OutsideText text={agentName(webhook.agent_id)} />
            </Link>
          )}
        </Fact>
        <Fact name="Events">
          <OutsideText text={webhook.events.join(", ")} className="font-mono text-small" />
        </Fact>
        {headers.length > 0 && (
          <Fact name="Headers">
            <OutsideText
              text={headers.map(([name, value]) => `${name}: ${value}`).join(", ")}
              className="font-mono text-small"
            />
          </Fact>
        )}
        {webhook.approval_links && <Fact name="Approval links">yes</Fact>}
        {webhook.previous_secret_expires_at !== null && (
          <Fact name="Old secret ends">
            <Ago at={webhook.previous_secret_expires_at} />
          </Fact>
        )}
        <Fact name="Created">
          <Ago at={webhook.created_at} />
          {webhook.created_by !== null && (
            <>
              {" "}
              by <OutsideText text={keyName(webhook.created_by)} />
            </>
          )}
        </Fact>
        <Fact name="Id">
          <IdText id={webhook.id} what="the id of the webhook" />
        </Fact>
      </Facts>
    </div>
  );
}
