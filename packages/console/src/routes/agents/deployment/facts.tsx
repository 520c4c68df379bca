import type { Deployment } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { useDeployerName } from "../../../lists/use-deployer-name.ts";
import { Ago, useSlowClock } from "../../../parts/ago.tsx";
import { FactLine, FactList } from "../../../parts/fact-list.tsx";
import { IdText } from "../../../parts/id-text.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { formatSpan } from "../../../parts/span.ts";
import { textLinkClass } from "../../../parts/text-link.ts";

interface FactsProps {
  readonly agent: string;
  readonly deployment: Deployment;
  /** What stood beside it or came before it, to compare with. */
  readonly other: Deployment | undefined;
}

export function Facts({ agent, deployment, other }: FactsProps) {
  const { id, version, environment, traffic_percent, rollback_of, created_at, activated_at, ended_at } = deployment;
  const deployer = useDeployerName([deployment])(deployment);
  const now = useSlowClock();
  const served = (ended_at === null ? now.getTime() : Date.parse(ended_at)) - Date.parse(activated_at ?? created_at);
  return (
    <FactList>
      <FactLine name="Environment">{environment}</FactLine>
      <FactLine name="Version">
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
      </FactLine>
      <FactLine name="Traffic">{traffic_percent} %</FactLine>
      <FactLine name="Created by">
        <OutsideText text={deployer} />
      </FactLine>
      <FactLine name="Created">
        <Ago at={created_at} />
      </FactLine>
      <FactLine name="Activated">{activated_at === null ? "never" : <Ago at={activated_at} />}</FactLine>
      {ended_at !== null && (
        <FactLine name="Ended">
          <Ago at={ended_at} />
        </FactLine>
      )}
      {activated_at !== null && <FactLine name="Served for">{formatSpan(served)}</FactLine>}
      {rollback_of !== null && (
        <FactLine name="Rollback of">
          <Link
            to="/agents/$agent/deployments/$deployment"
            params={{ agent, deployment: rollback_of }}
            className={textLinkClass}
          >
            the deployment that it replaced
          </Link>
        </FactLine>
      )}
      <FactLine name="Id">
        <IdText id={id} what="the deployment's id" />
      </FactLine>
    </FactList>
  );
}
