import type { Deployment } from "@perch/sdk";
import { isCanary } from "../../../api/is-canary.ts";
import { StatusMark } from "../../../parts/status-mark.tsx";

/** The state of a deployment: live, a canary with its share, or how it ended. */
export const DeploymentMark = ({ deployment }: { readonly deployment: Deployment }) =>
  isCanary(deployment) ? (
    <StatusMark status="canary" word={`canary ${deployment.traffic_percent} %`} />
  ) : (
    <StatusMark status={deployment.status} {...(deployment.status === "active" && { word: "live" })} />
  );
