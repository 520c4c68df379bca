import type { CreateProvider, UpdateProvider } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { offsetPages } from "./paged.ts";
import { perch } from "./perch.ts";
import { queryClient } from "./query-client.ts";

/** Everything that an agent's `model` can name, those of the installation included. */
export const modelListQuery = offsetPages(["models", "list"], (page, signal) =>
  perch.models.list(page, { signal }).page(),
);

/** Those of the organisation. A key that belongs to one agent may not read them. */
export const providerListQuery = offsetPages(["providers", "list"], (page, signal) =>
  perch.providers.list({ ...page, sort: "name" }, { signal }).page(),
);

/** The newest state, for a form. Nothing from the cache is shown while it loads. */
export const providerQuery = (name: string) =>
  queryOptions({
    queryKey: ["providers", "one", name],
    queryFn: ({ signal }) => perch.providers.get(name, { signal }),
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

async function changed(): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ["providers", "list"] }),
    queryClient.invalidateQueries({ queryKey: ["models"] }),
  ]);
}

export async function createProvider(body: CreateProvider): Promise<void> {
  await perch.providers.create(body);
  await changed();
}

export async function updateProvider(name: string, body: UpdateProvider): Promise<void> {
  await perch.providers.update(name, body);
  await changed();
}

export async function deleteProvider(name: string): Promise<void> {
  await perch.providers.delete(name);
  await changed();
}
