import { useQueryClient } from "@tanstack/react-query";

/** Invalidates everything that the console shows about agents, because one change appears in many places. */
export function useAgentChanged(): () => Promise<void> {
  const queryClient = useQueryClient();
  return async () => {
    await Promise.all(
      ["agents", "deployments", "versions"].map((resource) => queryClient.invalidateQueries({ queryKey: [resource] })),
    );
  };
}
