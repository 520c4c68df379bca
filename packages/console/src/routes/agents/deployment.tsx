import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { trialOf } from "../../api/canary-trial.ts";
import { activeDeploymentsQuery, deploymentQuery, deploymentsBeforeQuery } from "../../api/deployments-queries.ts";
import { Icon } from "../../parts/icon.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { useCan } from "../../session/session.ts";
import { DeploymentMark } from "./deploy/deployment-mark.tsx";
import { CanaryCharts } from "./deployment/canary-charts.tsx";
import { ChangeHistory } from "./deployment/change-history.tsx";
import { DeploymentActions } from "./deployment/deployment-actions.tsx";
import { DeploymentFacts } from "./deployment/deployment-facts.tsx";
import { GuardTable } from "./deployment/guard-table.tsx";
import { liveBeside } from "./deployment/live-beside.ts";
import { VerdictLine } from "./deployment/verdict-line.tsx";
import { servedEnvironments } from "./live-deployments.ts";
import { ListSection } from "./overview/list-section.tsx";

const route = getRouteApi("/signed-in/agents/$agent/deployments/$deployment");

/** One deployment and its outcome. For a canary, also its figures beside the live version and the result of its guards. */
export function DeploymentPage() {
  const { agent, deployment: id } = route.useParams();
  const { data: deployment } = useSuspenseQuery(deploymentQuery(agent, id));
  const { data: active = [] } = useQuery(activeDeploymentsQuery(agent));
  const [canWrite, canManage] = [useCan("write"), useCan("manage")];
  const { version, environment, error, guards, activated_at } = deployment;
  const { data: before = [] } = useQuery({
    ...deploymentsBeforeQuery(agent, environment, activated_at ?? ""),
    enabled: activated_at !== null,
  });
  const served = servedEnvironments(active).find((one) => one.environment === environment);
  const beside = liveBeside(before, deployment);
  const trial = useMemo(() => trialOf(deployment, beside), [deployment, beside]);
  const canaryBeside = served?.live?.id === id ? served.canary : undefined;
  return (
    <div className="flex flex-col gap-5 p-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h2 className="text-title">
          <span className="font-mono">{version}</span> in {environment}
        </h2>
        <span className="text-table">
          <DeploymentMark deployment={deployment} />
        </span>
        {canWrite && (
          <span className="ml-auto flex flex-wrap gap-2">
            <DeploymentActions agent={agent} deployment={deployment} served={served} />
          </span>
        )}
      </div>
      <VerdictLine deployment={deployment} />
      {error !== null && deployment.guard_report?.verdict !== "rolled_back" && (
        <div className="flex gap-2 rounded border border-danger bg-danger-soft px-3 py-2 text-table">
          <Icon name={deployment.status === "failed" ? "cross" : "left"} className="mt-0.5 size-4 text-danger" />
          <OutsideText block text={error} className="min-w-0" />
        </div>
      )}
      {canaryBeside && (
        <p className="text-table">
          <Link
            to="/agents/$agent/deployments/$deployment"
            params={{ agent, deployment: canaryBeside.id }}
            className="text-canary underline"
          >
            The canary {canaryBeside.version} gets {canaryBeside.traffic_percent} % of the requests beside it
          </Link>
        </p>
      )}
      {trial && (
        <ListSection title={`${version} beside ${beside?.version ?? "the live version"}`}>
          <div className="pt-3">
            <CanaryCharts agent={agent} trial={trial} />
          </div>
        </ListSection>
      )}
      <div className="grid gap-x-8 gap-y-5 lg:grid-cols-2">
        <ListSection title="Deployment">
          <DeploymentFacts agent={agent} deployment={deployment} other={beside} />
        </ListSection>
        <div className="flex min-w-0 flex-col gap-5">
          {activated_at !== null && guards && (
            <ListSection title="Guards">
              <GuardTable deployment={deployment} />
            </ListSection>
          )}
          {canManage && (
            <ListSection title="Who did what">
              <ChangeHistory deployment={deployment} />
            </ListSection>
          )}
        </div>
      </div>
    </div>
  );
}
