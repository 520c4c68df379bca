import { cellKey, housekeeping } from "../../../server/src/engine/services.ts";
import { waitUntil } from "../services/commands.ts";
import type { RestateCluster } from "./restate-process.ts";

async function post(url: string, body: unknown): Promise<string> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return text;
}

/** When the next housekeeping is due. Undefined before the first is scheduled. */
async function nextHousekeeping(adminUrl: string): Promise<number | undefined> {
  const query = `select value_utf8 from state where service_name = '${housekeeping}' and key = 'next'`;
  const answer = JSON.parse(await post(`${adminUrl}/query`, { query })) as {
    readonly rows: readonly { readonly value_utf8: string }[];
  };
  return answer.rows[0] && Number(answer.rows[0].value_utf8);
}

/** Starts the next hour's housekeeping now, without waiting for it. */
export async function startHousekeeping({ engine }: { readonly engine: RestateCluster }): Promise<void> {
  const next = await nextHousekeeping(engine.adminUrls[0] ?? "");
  if (next === undefined) throw new Error("The engine has no housekeeping scheduled");
  await post(`${engine.ingressUrls[0]}/restate/send/${housekeeping}/${cellKey}/tick`, next);
}

/** Waits until the housekeeping that the first worker starts is over. The next is an hour later. */
export async function waitForHousekeeping(adminUrl: string): Promise<void> {
  // An engine that has just started answers queries with 500 until it has its partition.
  const isOver = async () => ((await nextHousekeeping(adminUrl).catch(() => undefined)) ?? 0) > Date.now();
  if (!(await waitUntil(isOver, 60))) throw new Error("No housekeeping has ended after 60 s");
}
