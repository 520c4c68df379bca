import type { Approval } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { Ago } from "../../../parts/ago.tsx";
import { Fact, Facts } from "../../../parts/facts.tsx";
import { IdText } from "../../../parts/id-text.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";

/** The run that asks, its agent, and its user. */
export const ApprovalFacts = ({ approval }: { readonly approval: Approval }) => (
  <Facts>
    <Fact name="Run">
      <Link
        to="/runs/$agent/$run"
        params={{ agent: approval.agent_name, run: approval.request_id }}
        className={`${textLinkClass} font-mono text-small [overflow-wrap:anywhere]`}
      >
        {approval.request_id}
      </Link>
    </Fact>
    <Fact name="Agent">
      <Link to="/agents/$agent" params={{ agent: approval.agent_name }} className={textLinkClass}>
        <OutsideText text={approval.agent_name} />
      </Link>
    </Fact>
    <Fact name="Version">
      <OutsideText text={approval.version ?? "draft"} />
    </Fact>
    <Fact name="Environment">
      <OutsideText text={approval.environment} />
    </Fact>
    {approval.session_id !== null && (
      <Fact name="Session">
        <OutsideText text={approval.session_id} />
      </Fact>
    )}
    <Fact name="Asked">
      <Ago at={approval.created_at} />
    </Fact>
    <Fact name="Id">
      <IdText id={approval.id} what="the id of the approval" />
    </Fact>
  </Facts>
);
