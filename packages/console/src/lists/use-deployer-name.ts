import type { Deployment } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { deployersQuery } from "../api/deployments-queries.ts";
import { useCan } from "../session/session.ts";
import { useKeyName } from "./use-key-name.ts";

/** The creator of a deployment: a key by its name, or a person if the caller may know it. */
export function useDeployerName(deployments: readonly Deployment[]): (deployment: Deployment) => string {
  const keyName = useKeyName();
  const canManage = useCan("manage");
  const isByPerson = deployments.some(({ created_by }) => created_by === null);
  const { data: people } = useQuery({ ...deployersQuery, enabled: canManage && isByPerson });
  return ({ id, created_by }) => (created_by === null ? (people?.get(id) ?? "a person") : keyName(created_by));
}
