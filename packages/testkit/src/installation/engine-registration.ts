import { waitUntil } from "../services/commands.ts";
import type { RestateCluster } from "./restate-process.ts";

/** Waits until a worker has registered at the engine: it accepts connections before that. */
export async function waitUntilRegistered({ adminUrls }: Pick<RestateCluster, "adminUrls">): Promise<void> {
  const isRegistered = async () => {
    const answer = await fetch(`${adminUrls[0]}/deployments`);
    return ((await answer.json()) as { readonly deployments: readonly unknown[] }).deployments.length > 0;
  };
  if (!(await waitUntil(isRegistered, 60))) throw new Error("No worker has registered after 60 s");
}
