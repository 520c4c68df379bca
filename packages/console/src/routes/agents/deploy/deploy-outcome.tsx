import type { Deployment } from "@perch/sdk";
import { useMutationState, useQueryClient } from "@tanstack/react-query";
import { Button } from "../../../parts/button.tsx";
import { DeployProblem } from "./deploy-problem.tsx";
import { type DeployState, deployProgress } from "./deploy-progress.ts";
import { deployKey } from "./use-deploy.ts";

interface DeployOutcomeProps {
  readonly agentId: string;
  /** The deployments that serve requests now. */
  readonly active: readonly Deployment[];
}

/** The outcome of the deployment that was started last, for a user who has closed its dialog. */
export function DeployOutcome({ agentId, active }: DeployOutcomeProps) {
  const mutationKey = deployKey(agentId);
  const last = useMutationState({ filters: { mutationKey }, select: ({ state }) => state as DeployState }).at(-1);
  const cache = useQueryClient().getMutationCache();
  const dismiss = () => {
    for (const mutation of cache.findAll({ mutationKey })) cache.remove(mutation);
  };
  const progress = last && deployProgress(last, active);
  return (
    <div className="text-table">
      <div className="flex items-center gap-2">
        <p role="status">{progress}</p>
        {progress !== undefined && last?.status !== "pending" && (
          <Button kind="quiet" className="h-7 px-2" onClick={dismiss}>
            Dismiss
          </Button>
        )}
      </div>
      {last?.error && <DeployProblem error={last.error} />}
    </div>
  );
}
