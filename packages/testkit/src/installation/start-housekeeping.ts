import { cellKey, housekeeping } from "../../../server/src/engine/services.ts";
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

/** Starts the next hour's housekeeping now, without waiting for it. */
export async function startHousekeeping({ engine }: { readonly engine: RestateCluster }): Promise<void> {
  const query = `select value_utf8 from state where service_name = '${housekeeping}' and key = 'next'`;
  const answer = JSON.parse(await post(`${engine.adminUrls[0]}/query`, { query })) as {
    readonly rows: readonly { readonly value_utf8: string }[];
  };
  const next = Number(answer.rows[0]?.value_utf8);
  if (!Number.isInteger(next)) throw new Error("The engine has no housekeeping scheduled");
  await post(`${engine.ingressUrls[0]}/restate/send/${housekeeping}/${cellKey}/tick`, next);
}
