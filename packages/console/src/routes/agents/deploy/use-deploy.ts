import type { Agent } from "@perch/sdk";
import { useMutation } from "@tanstack/react-query";
import { perch } from "../../../api/perch.ts";
import { useAgentChanged } from "../use-agent-changed.ts";
import type { toGuards } from "./guard-values.ts";

export interface Deploying {
  readonly environment: string;
  readonly version: string;
  readonly trafficPercent: number;
  readonly guards: ReturnType<typeof toGuards>;
  /** True if the version already exists, so that the draft does not matter. */
  readonly isRedeployed: boolean;
}

/** Deployments of one agent that this browser started. The user may close the dialog before they end. */
export const deployKey = (agentId: string) => ["deploy", agentId] as const;

export function useDeploy(agent: Agent) {
  const changed = useAgentChanged();
  return useMutation({
    mutationKey: deployKey(agent.id),
    mutationFn: ({ environment, version, trafficPercent, guards, isRedeployed }: Deploying) =>
      perch.deployments.deployAndWait(agent.id, {
        environment,
        version,
        traffic_percent: trafficPercent,
        ...(guards && { guards }),
        ...(isRedeployed && { redeploy: true }),
      }),
    onSettled: changed,
  });
}
