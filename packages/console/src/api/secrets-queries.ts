import type { CreateSecret, UpdateSecret } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { offsetPages } from "./paged.ts";
import { perch } from "./perch.ts";
import { queryClient } from "./query-client.ts";

/** The owner of the secrets: an agent, by name or id, or undefined for the organisation, whose secrets all agents can use. */
export type SecretOwner = string | undefined;

export const secretListQuery = (owner: SecretOwner) =>
  offsetPages(["secrets", "list", owner ?? null], (page, signal) =>
    (owner === undefined
      ? perch.secrets.list({ ...page, sort: "name" }, { signal })
      : perch.agentSecrets.list(owner, { ...page, sort: "name" }, { signal })
    ).page(),
  );

/** The newest state, for a form. Nothing from the cache is shown while it loads. */
export const secretQuery = (owner: SecretOwner, name: string) =>
  queryOptions({
    queryKey: ["secrets", "one", owner ?? null, name],
    queryFn: ({ signal }) =>
      owner === undefined ? perch.secrets.get(name, { signal }) : perch.agentSecrets.get(owner, name, { signal }),
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

/** React Query caches a mutation's arguments, so the value of a secret must not be one. The responses are not cached either. */
const changed = () => queryClient.invalidateQueries({ queryKey: ["secrets", "list"] });

export async function createSecret(owner: SecretOwner, body: CreateSecret): Promise<void> {
  await (owner === undefined ? perch.secrets.create(body) : perch.agentSecrets.create(owner, body));
  await changed();
}

export async function updateSecret(owner: SecretOwner, name: string, body: UpdateSecret): Promise<void> {
  await (owner === undefined ? perch.secrets.update(name, body) : perch.agentSecrets.update(owner, name, body));
  await changed();
}

export async function deleteSecret(owner: SecretOwner, name: string): Promise<void> {
  await (owner === undefined ? perch.secrets.delete(name) : perch.agentSecrets.delete(owner, name));
  await changed();
}
