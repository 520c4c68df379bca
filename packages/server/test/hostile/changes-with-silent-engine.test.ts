import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createAgentWithMemory } from "../support/memory-calls.ts";

/** An engine node that accepts connections and never answers, as a process does that was stopped. */
const sockets = new Set<Socket>();
const silentEngine = createServer((socket) => {
  sockets.add(socket);
  socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
});
silentEngine.listen(0, "127.0.0.1");
await once(silentEngine, "listening");
const address = silentEngine.address();
const port = typeof address === "object" && address ? address.port : 0;

const perch = usePerch({ ingressUrls: [`http://127.0.0.1:${port}`] });
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  silentEngine.close();
});

const params = { agent_id: "bot" };
const changesOfEachKind = 20;
const maxMedianReadMs = 200;
/** The organisation's own reads wait for their turn behind its changes, but not for the engine, whose time limit this is. */
const maxMedianOwnReadMs = 2000;
/** More than a transaction of these changes is idle on a busy machine. */
const maxIdleInTransactionMs = 1000;
/** Longer than unanswered calls to the engine last. */
const observedMs = 4000;

let attacker: Organisation;
let neighbour: Organisation;
beforeAll(async () => {
  attacker = await perch().createOrganisation();
  neighbour = await perch().createOrganisation();
  for (const organisation of [attacker, neighbour]) await createAgentWithMemory(organisation);
});

/** Makes every change that gives the engine something to do, all at once, and returns their statuses. */
const sendChanges = ({ call }: Organisation): Promise<number[]> =>
  Promise.all(
    Array.from({ length: changesOfEachKind }, (_, n) => [
      call("POST /v1/agents/{agent_id}/deployments", {
        params,
        body: { environment: `stage-${n}`, version: `v${n}` } as never,
      }),
      call("PATCH /v1/agents/{agent_id}", {
        params,
        body: { memory: { embedder: { model: `acme/embedder-${n}`, dimensions: 768 } } },
      }),
      call("DELETE /v1/agents/{agent_id}/memory", { params, query: {} }),
    ])
      .flat()
      .map(async (answer) => (await answer).status),
  );

interface Reads {
  readonly medianMs: number;
  readonly statuses: ReadonlySet<number>;
}

/** Lists agents, which is never cached, until `isDone`: one request at a time. */
async function readUntil({ call }: Organisation, isDone: () => boolean): Promise<Reads> {
  const durationsMs: number[] = [];
  const statuses = new Set<number>();
  while (!isDone()) {
    const startedAtMs = performance.now();
    statuses.add((await call("GET /v1/agents", { query: {} })).status);
    durationsMs.push(performance.now() - startedAtMs);
    await sleep(10);
  }
  const medianMs = durationsMs.toSorted((a, b) => a - b)[durationsMs.length >> 1] ?? 0;
  return { medianMs, statuses };
}

/** How long a connection of the server was idle within its transaction, at most. */
async function findLongestIdleUntil(isDone: () => boolean): Promise<number> {
  const client = new pg.Client({ connectionString: perch().database.adminUrl });
  await client.connect();
  let longestMs = 0;
  while (!isDone()) {
    const { rows } = await client.query<{ idle_ms: number | null }>(
      `select max(extract(epoch from clock_timestamp() - state_change) * 1000)::float8 as idle_ms
         from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
    );
    longestMs = Math.max(longestMs, rows[0]?.idle_ms ?? 0);
    await sleep(20);
  }
  await client.end();
  return longestMs;
}

describe("with an engine that accepts connections and does not answer", () => {
  test("changes of one organisation delay no other's reads, and no transaction waits for the engine", async () => {
    const endsAtMs = performance.now() + observedMs;
    const isDone = () => performance.now() > endsAtMs;
    const [statuses, own, others, idleMs] = await Promise.all([
      sendChanges(attacker),
      readUntil(attacker, isDone),
      readUntil(neighbour, isDone),
      findLongestIdleUntil(isDone),
    ]);
    expect.soft(idleMs).toBeLessThan(maxIdleInTransactionMs);
    expect.soft(own.medianMs).toBeLessThan(maxMedianOwnReadMs);
    expect.soft(others.medianMs).toBeLessThan(maxMedianReadMs);
    expect.soft(others.statuses).toEqual(new Set([200]));
    // An organisation that uses up its share of transactions is refused with 429. Nothing fails.
    expect.soft([...statuses, ...own.statuses].filter((status) => status >= 500)).toEqual([]);
    expect.soft(statuses.filter((status) => status < 300).length).toBeGreaterThan(changesOfEachKind);
  }, 120_000);
});
