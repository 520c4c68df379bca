import type { Deployment } from "@perch/sdk";
import { isCanary } from "../../../api/is-canary.ts";
import { CanaryActions } from "../deploy/canary-actions.tsx";
import { RollBack } from "../deploy/roll-back.tsx";
import type { ServedEnvironment } from "../live-deployments.ts";
import { ChangeShare } from "./change-share.tsx";
import { Restore } from "./restore.tsx";

interface DeploymentActionsProps {
  readonly agent: string;
  readonly deployment: Deployment;
  /** The active deployments of its environment. */
  readonly served: ServedEnvironment | undefined;
}

/** The actions that the deployment's state allows. */
export function DeploymentActions({ agent, deployment, served }: DeploymentActionsProps) {
  const { id, status, traffic_percent, version } = deployment;
  const { live, canary } = served ?? {};
  if (isCanary(deployment))
    return (
      <>
        <ChangeShare agent={agent} canary={deployment} live={live} />
        <CanaryActions agent={agent} canary={deployment} live={live} />
      </>
    );
  if (live?.id === id) return <RollBack agent={agent} live={live} canary={canary} />;
  // A deployment that was rolled back is not restored this way, and one that was only a canary was never live.
  if (live && status === "superseded" && traffic_percent === 100 && live.version !== version)
    return <Restore agent={agent} past={deployment} live={live} canary={canary} />;
  return null;
}
