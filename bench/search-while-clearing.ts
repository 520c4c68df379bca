import { setTimeout as sleep } from "node:timers/promises";

interface Service {
  readonly url: string;
  readonly headers: Record<string, string>;
}

interface Clear {
  readonly id: string;
  readonly status: "running" | "completed";
  readonly memories_deleted: number;
}

const parseClear = async (response: Response): Promise<Clear> => ((await response.json()) as { data: Clear }).data;

/** Clears an agent's memory and repeats `searchOtherAgent` until that is done. `times` are the searches' durations in milliseconds. */
export async function searchWhileClearing(
  { url, headers }: Service,
  agent: string,
  searchOtherAgent: () => Promise<number>,
): Promise<{
  readonly seconds: number;
  readonly deleted: number;
  readonly answeredMs: number;
  readonly times: number[];
}> {
  const startedAt = performance.now();
  const times: number[] = [];
  let done = false;
  const searching = (async () => {
    while (!done) times.push(await searchOtherAgent());
  })();
  const { authorization = "" } = headers;
  let clear = await parseClear(
    await fetch(`${url}/v1/agents/${agent}/memory`, { method: "DELETE", headers: { authorization } }),
  );
  const answeredMs = performance.now() - startedAt;
  while (clear.status === "running") {
    await sleep(200);
    clear = await parseClear(
      await fetch(`${url}/v1/agents/${agent}/memory/clears/${clear.id}`, { headers: { authorization } }),
    );
  }
  done = true;
  await searching;
  return { seconds: (performance.now() - startedAt) / 1000, deleted: clear.memories_deleted, answeredMs, times };
}
