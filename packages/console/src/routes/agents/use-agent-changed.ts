import { useQueryClient } from "@tanstack/react-query";

/** Everything that the console shows of agents is read again: a change of one is in many places. */
export function useAgentChanged(): () => Promise<void> {
  const queryClient = useQueryClient();
  return async () => {
    await Promise.all(
      ["agents", "deployments", "versions"].map((resource) => queryClient.invalidateQueries({ queryKey: [resource] })),
    );
  };
}
