import type { CreateSecret, UpdateSecret } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { offsetPages } from "./paged.ts";
import { perch } from "./perch.ts";
import { queryClient } from "./query-client.ts";

/** Of an agent, by name or id; undefined for those of the organisation, which all agents can use. */
export type SecretOwner = string | undefined;

export const secretListQuery = (owner: SecretOwner) =>
  offsetPages(["secrets", "list", owner ?? null], (page, signal) =>
    (owner === undefined
      ? perch.secrets.list({ ...page, sort: "name" }, { signal })
      : perch.agentSecrets.list(owner, { ...page, sort: "name" }, { signal })
    ).page(),
  );

/** The newest state, for a form: nothing older is shown meanwhile. */
export const secretQuery = (owner: SecretOwner, name: string) =>
  queryOptions({
    queryKey: ["secrets", "one", owner ?? null, name],
    queryFn: ({ signal }) =>
      owner === undefined ? perch.secrets.get(name, { signal }) : perch.agentSecrets.get(owner, name, { signal }),
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

/** Nothing of the answer is kept, and the value is in no cache: a mutation keeps what it is called with. */
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
