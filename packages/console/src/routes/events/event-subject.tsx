import type { Event } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { Fact } from "../../parts/facts.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { textLinkClass } from "../../parts/text-link.ts";

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const idClass = `${textLinkClass} font-mono text-small`;

interface EventSubjectProps {
  readonly event: Event;
  /** Name or id of the agent. */
  readonly agent: string | undefined;
}

/** The subject of an event: a run, a deployment, an approval, a connection, or a tested webhook. */
export function EventSubject({ event, agent }: EventSubjectProps) {
  const { request_id, id, webhook_id } = event.data;
  const [run, thing, webhook] = [textOf(request_id), textOf(id), textOf(webhook_id)];
  if (event.type === "webhook.test" && webhook !== undefined)
    return (
      <Fact name="Webhook">
        <Link to="/webhooks/$webhook" params={{ webhook }} className={idClass}>
          <OutsideText text={webhook} />
        </Link>
      </Fact>
    );
  if (event.type === "agent.action_required" && thing !== undefined)
    return (
      <Fact name="Approval">
        <Link to="/approvals/$approval" params={{ approval: thing }} className={idClass}>
          <OutsideText text={thing} />
        </Link>
      </Fact>
    );
  if (agent === undefined) return null;
  if (event.type.startsWith("agent.") && run !== undefined)
    return (
      <Fact name="Run">
        <Link to="/runs/$agent/$run" params={{ agent, run }} className={idClass}>
          <OutsideText text={run} />
        </Link>
      </Fact>
    );
  if (event.type.startsWith("deployment.") && thing !== undefined)
    return (
      <Fact name="Deployment">
        <Link to="/agents/$agent/deployments/$deployment" params={{ agent, deployment: thing }} className={idClass}>
          <OutsideText text={thing} />
        </Link>
      </Fact>
    );
  if (event.type === "connection.needs_reauth" && thing !== undefined)
    return (
      <Fact name="Connection">
        <Link to="/connections/$agent/$connection" params={{ agent, connection: thing }} className={idClass}>
          <OutsideText text={thing} />
        </Link>
      </Fact>
    );
  return null;
}
