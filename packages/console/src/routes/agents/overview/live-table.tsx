import type { Deployment } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { activeDeploymentsQuery } from "../../../api/deployments-queries.ts";
import { Ago } from "../../../parts/ago.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { useCan } from "../../../session/session.ts";
import { CanaryActions } from "../deploy/canary-actions.tsx";
import { RollBack } from "../deploy/roll-back.tsx";
import { verdictOf } from "../deploy/verdict.ts";
import { type ServedEnvironment, servedEnvironments } from "../live-deployments.ts";
import { ListSection } from "./list-section.tsx";

const Since = ({ deployment }: { readonly deployment: Deployment }) =>
  deployment.activated_at === null ? null : (
    <span className="text-muted">
      began <Ago at={deployment.activated_at} />
    </span>
  );

interface EnvironmentRowProps extends ServedEnvironment {
  readonly agent: string;
  readonly canWrite: boolean;
}

const VersionLink = ({ agent, deployment }: { readonly agent: string; readonly deployment: Deployment }) => (
  <Link
    to="/agents/$agent/deployments/$deployment"
    params={{ agent, deployment: deployment.id }}
    className="font-mono underline decoration-line-strong underline-offset-2"
  >
    {deployment.version}
  </Link>
);

const EnvironmentRow = ({ agent, environment, live, canary, canWrite }: EnvironmentRowProps) => (
  <li className="flex min-h-10 flex-wrap items-center gap-x-4 gap-y-1 border-line border-b py-1 text-table">
    <span className="w-32 font-medium">{environment}</span>
    {live && (
      <span className="inline-flex items-center gap-2">
        <StatusMark status="active" word="live" />
        <VersionLink agent={agent} deployment={live} />
        <Since deployment={live} />
      </span>
    )}
    {canary && (
      <span className="inline-flex flex-wrap items-center gap-2">
        <StatusMark status="canary" word={`canary ${canary.traffic_percent} %`} />
        <VersionLink agent={agent} deployment={canary} />
        <Since deployment={canary} />
        {canary.guards && <OutsideText text={verdictOf(canary)?.sentence ?? ""} className="text-muted" />}
      </span>
    )}
    {canWrite && (
      <span className="ml-auto flex flex-wrap gap-2">
        {canary && <CanaryActions agent={agent} canary={canary} live={live} />}
        {live && <RollBack agent={agent} live={live} canary={canary} />}
      </span>
    )}
  </li>
);

/** The versions that serve requests now, by environment. */
export function LiveTable({ agent }: { readonly agent: string }) {
  const { env } = useSearch({ strict: false });
  const { data: active, error } = useQuery(activeDeploymentsQuery(agent));
  const canWrite = useCan("write");
  const served = servedEnvironments(active ?? []).filter(({ environment }) => env === undefined || environment === env);
  return (
    <ListSection title="Live">
      {error && !active && <ErrorNote error={error} />}
      {active && served.length === 0 && (
        <p className="py-2 text-muted text-table">
          {env === undefined
            ? "Nothing is deployed: the draft answers every message, and each change of it takes effect at once."
            : `Nothing is deployed in ${env}.`}
        </p>
      )}
      <ul>
        {served.map((one) => (
          <EnvironmentRow key={one.environment} {...one} agent={agent} canWrite={canWrite} />
        ))}
      </ul>
    </ListSection>
  );
}
