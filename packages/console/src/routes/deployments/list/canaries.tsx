import type { DeploymentOfAnyAgent } from "@perch/sdk";
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { canariesQuery, canaryQuery } from "../../../api/deployments-queries.ts";
import { isCanary } from "../../../api/is-canary.ts";
import { Ago } from "../../../parts/ago.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { verdictOf } from "../../agents/deploy/verdict.ts";

const CanaryItem = ({ canary }: { readonly canary: DeploymentOfAnyAgent }) => {
  const { id, agent_name, version, environment, traffic_percent, activated_at } = canary;
  return (
    <li className="relative flex min-h-9 flex-wrap items-center gap-x-4 border-line border-b px-4 py-1 text-table hover:bg-sunken">
      <Link
        to="/agents/$agent/deployments/$deployment"
        params={{ agent: agent_name, deployment: id }}
        className="font-medium after:absolute after:inset-0 after:content-['']"
      >
        {agent_name} <span className="font-mono">{version}</span>
      </Link>
      <StatusMark status="canary" word={`${traffic_percent} % of ${environment}`} />
      <OutsideText text={verdictOf(canary)?.sentence ?? ""} className="min-w-0" />
      {activated_at !== null && (
        <span className="ml-auto text-muted max-sm:ml-0">
          began <Ago at={activated_at} />
        </span>
      )}
    </li>
  );
};

/** The canaries under way, each with its current state instead of the state of the last search. */
function useCanaries(listed: readonly DeploymentOfAnyAgent[]): readonly DeploymentOfAnyAgent[] {
  const { data: found = [] } = useQuery(canariesQuery);
  const known = [...new Map([...listed.filter(isCanary), ...found].map((each) => [each.id, each])).values()];
  const now = useQueries({ queries: known.map((each) => canaryQuery(each, known.length)) });
  return known.map((each, index) => ({ ...each, ...now[index]?.data })).filter(isCanary);
}

interface CanariesProps {
  readonly agent: string | undefined;
  readonly environment: string | undefined;
  /** The deployments in the page's table, which learns about new ones first. */
  readonly listed: readonly DeploymentOfAnyAgent[];
}

/** Canaries under way, whenever they began. Undecided ones stand above the list. */
export function Canaries({ agent, environment, listed }: CanariesProps) {
  const canaries = useCanaries(listed).filter(
    (each) =>
      (environment === undefined || each.environment === environment) &&
      (agent === undefined || each.agent_name === agent || each.agent_id === agent),
  );
  if (canaries.length === 0) return null;
  return (
    <section aria-labelledby="canaries-title" className="pt-3 pb-4">
      <h2 id="canaries-title" className="px-4 pb-1 text-body">
        Canaries under way
      </h2>
      <ul className="border-line border-t">
        {canaries.map((canary) => (
          <CanaryItem key={canary.id} canary={canary} />
        ))}
      </ul>
    </section>
  );
}
