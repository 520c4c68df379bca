import type { Deployment } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { useDeployerName } from "../../../lists/use-deployer-name.ts";
import { Ago, useSlowClock } from "../../../parts/ago.tsx";
import { Fact, Facts } from "../../../parts/facts.tsx";
import { IdText } from "../../../parts/id-text.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { formatSpan } from "../../../parts/span.ts";
import { textLinkClass } from "../../../parts/text-link.ts";

interface DeploymentFactsProps {
  readonly agent: string;
  readonly deployment: Deployment;
  /** The deployment beside or before it, for a comparison. */
  readonly other: Deployment | undefined;
}

export function DeploymentFacts({ agent, deployment, other }: DeploymentFactsProps) {
  const { id, version, environment, traffic_percent, rollback_of, created_at, activated_at, ended_at } = deployment;
  const deployer = useDeployerName([deployment])(deployment);
  const now = useSlowClock();
  const served = (ended_at === null ? now.getTime() : Date.parse(ended_at)) - Date.parse(activated_at ?? created_at);
  return (
    <Facts layout="list">
      <Fact name="Environment">{environment}</Fact>
      <Fact name="Version">
        <Link to="/agents/$agent/versions" params={{ agent }} search={{ shown: version }} className={textLinkClass}>
          <span className="font-mono">{version}</span>, its definition
        </Link>
        {other && (
          <>
            {" · "}
            <Link
              to="/agents/$agent/deployments"
              params={{ agent }}
              search={{ from: other.id, to: id }}
              className={textLinkClass}
            >
              compare with <span className="font-mono">{other.version}</span>
            </Link>
          </>
        )}
      </Fact>
      <Fact name="Traffic">{traffic_percent} %</Fact>
      <Fact name="Created by">
        <OutsideText text={deployer} />
      </Fact>
      <Fact name="Created">
        <Ago at={created_at} />
      </Fact>
      <Fact name="Activated">{activated_at === null ? "never" : <Ago at={activated_at} />}</Fact>
      {ended_at !== null && (
        <Fact name="Ended">
          <Ago at={ended_at} />
        </Fact>
      )}
      {activated_at !== null && <Fact name="Served for">{formatSpan(served)}</Fact>}
      {rollback_of !== null && (
        <Fact name="Rollback of">
          <Link
            to="/agents/$agent/deployments/$deployment"
            params={{ agent, deployment: rollback_of }}
            className={textLinkClass}
          >
            the deployment that it replaced
          </Link>
        </Fact>
      )}
      <Fact name="Id">
        <IdText id={id} what="the deployment's id" />
      </Fact>
    </Facts>
  );
}
