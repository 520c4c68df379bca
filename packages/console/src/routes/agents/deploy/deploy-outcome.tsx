import { type MutationState, useMutationState, useQueryClient } from "@tanstack/react-query";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { type Deploying, deployKey } from "./use-deploy.ts";

type DeployState = MutationState<unknown, Error, Deploying>;

const sentenceOf = ({ status, variables }: DeployState): string => {
  if (!variables) return "";
  const { environment, version, trafficPercent } = variables;
  if (status === "pending") return `Deploying ${version} to ${environment}; this takes up to 20 seconds.`;
  if (status === "error") return `${version} was not deployed to ${environment}.`;
  return trafficPercent < 100
    ? `${version} is a canary in ${environment} with ${trafficPercent} % of the requests.`
    : `${version} is live in ${environment}.`;
};

/** What became of the deployment that was begun last, for whoever closed its dialog meanwhile. */
export function DeployOutcome({ agentId }: { readonly agentId: string }) {
  const mutationKey = deployKey(agentId);
  const last = useMutationState({ filters: { mutationKey }, select: ({ state }) => state as DeployState }).at(-1);
  const cache = useQueryClient().getMutationCache();
  const dismiss = () => {
    for (const mutation of cache.findAll({ mutationKey })) cache.remove(mutation);
  };
  const isEnded = last?.status === "success" || last?.status === "error";
  return (
    <div className="text-table">
      <div className="flex items-center gap-2">
        <p role="status">{last && sentenceOf(last)}</p>
        {isEnded && (
          <Button kind="quiet" className="h-7 px-2" onClick={dismiss}>
            Dismiss
          </Button>
        )}
      </div>
      {last?.error && <ErrorNote error={last.error} />}
    </div>
  );
}
