import type { AgentSummary } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import type { AgentTraffic } from "../../../api/agent-traffic.ts";
import { agentQuery } from "../../../api/agents-queries.ts";
import { Ago } from "../../../parts/ago.tsx";
import { formatCount } from "../../../parts/duration.ts";
import { Sparkline } from "../../../parts/sparkline.tsx";
import { AgentState } from "../agent-state.tsx";
import type { ServedEnvironment } from "../live-deployments.ts";
import { LiveVersion } from "../live-version.tsx";

interface AgentRowProps {
  readonly agent: AgentSummary;
  readonly index: number;
  readonly served: readonly ServedEnvironment[] | undefined;
  /** Undefined while it is being loaded. */
  readonly traffic: AgentTraffic | undefined;
  readonly environment: string | undefined;
  /** False while the list scrolls, so that rows which pass by are not requested. */
  readonly isSettled: boolean;
}

const cell = "h-8 truncate border-line border-b px-2";
const percent = (rate: number): string => `${(rate * 100).toFixed(rate < 0.1 && rate > 0 ? 1 : 0)} %`;

/** The list of agents has only names and states; model and last change are read for the visible rows. */
const useDetails = (name: string, isSettled: boolean) =>
  useQuery({ ...agentQuery(name), enabled: isSettled, staleTime: 300_000, refetchOnWindowFocus: false });

/** More environments than this do not fit; the agent's page has all of them. */
const maxEnvironments = 2;

function Served({ served, environment }: Pick<AgentRowProps, "served" | "environment">) {
  if (served === undefined) return null;
  const shown = environment === undefined ? served : served.filter((one) => one.environment === environment);
  if (shown.length === 0) return <span className="text-muted">not deployed</span>;
  const more = shown.length - maxEnvironments;
  return (
    <span className="inline-flex gap-3">
      {shown.slice(0, maxEnvironments).map((one) => (
        <LiveVersion key={one.environment} {...one} withName={environment === undefined} />
      ))}
      {more > 0 && <span className="text-muted">and {more} more</span>}
    </span>
  );
}

function Traffic({ traffic }: { readonly traffic: AgentTraffic | undefined }) {
  return (
    <>
      <td className={`${cell} hidden lg:table-cell`}>
        {traffic && (
          <span className="flex items-center justify-end gap-2">
            <span className="text-muted">{formatCount(traffic.runs)}</span>
            <Sparkline values={traffic.throughput} label={`${formatCount(traffic.runs)} runs`} />
          </span>
        )}
      </td>
      <td className={`${cell} hidden lg:table-cell`}>
        {traffic && (
          <span className="flex items-center justify-end gap-2">
            <span className={traffic.errorRate > 0 ? "text-danger" : "text-muted"}>
              {traffic.runs > 0 ? percent(traffic.errorRate) : "–"}
            </span>
            <Sparkline
              values={traffic.errorRates}
              tone="danger"
              label={traffic.runs > 0 ? `${percent(traffic.errorRate)} of them failed` : "no runs"}
            />
          </span>
        )}
      </td>
    </>
  );
}

const AgentLink = ({ name }: { readonly name: string }) => (
  <Link
    to="/agents/$agent"
    params={{ agent: name }}
    title={name}
    // The link covers the whole row, so the row needs no second link.
    className="after:absolute after:inset-0 after:content-[''] focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-accent focus-visible:after:-outline-offset-2"
  >
    {name}
  </Link>
);

/** On a phone: two lines with the same facts except the model. */
export const NarrowAgentRow = memo(({ agent, index, served, traffic, environment }: AgentRowProps) => (
  <tr aria-rowindex={index + 2} className="relative hover:bg-sunken">
    <th scope="row" className="h-12 truncate border-line border-b pl-4 text-left">
      <span className="block truncate font-medium">
        <AgentLink name={agent.name} />
      </span>
      <span className="block truncate font-normal text-small">
        <Served served={served} environment={environment} />
      </span>
    </th>
    <td className="w-32 border-line border-b pr-4 text-right">
      <span className="block">
        <AgentState status={agent.status} />
      </span>
      {traffic && (
        <span className="block text-muted text-small">
          {formatCount(traffic.runs)} runs
          {traffic.errorRate > 0 && <span className="text-danger">, {percent(traffic.errorRate)}</span>}
        </span>
      )}
    </td>
  </tr>
));

export const AgentRow = memo(({ agent, index, served, traffic, environment, isSettled }: AgentRowProps) => {
  const { data: details } = useDetails(agent.name, isSettled);
  return (
    <tr aria-rowindex={index + 2} className="relative hover:bg-sunken">
      <th scope="row" className={`${cell} pl-4 text-left font-medium`}>
        <AgentLink name={agent.name} />
      </th>
      <td className={cell}>
        <AgentState status={agent.status} />
      </td>
      <td className={cell}>
        <Served served={served} environment={environment} />
      </td>
      <td className={`${cell} hidden font-mono text-small lg:table-cell`} title={details?.model}>
        {details?.model}
      </td>
      <Traffic traffic={traffic} />
      <td className={`${cell} pr-4 text-right text-muted`}>{details && <Ago at={details.updated_at} />}</td>
    </tr>
  );
});
