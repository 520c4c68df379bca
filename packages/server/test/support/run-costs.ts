import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { RestateNode } from "@perch/testkit/installation/restate-process.ts";
import { Redis } from "iovalkey";
import pg from "pg";
import { expect, vi } from "vitest";

/** The counted costs of a run, in the order of the table's columns. */
export const costNames = [
  "statements",
  "transactions",
  "record_bytes",
  "valkey_calls",
  "log_records",
  "log_bytes",
  "journal_entries",
  "engine_requests",
  "worker_requests",
] as const;
export type CostName = (typeof costNames)[number];
export type RunCost = Readonly<Record<CostName, number>>;

export interface MeasuredRun {
  readonly cost: RunCost;
  /** The counted items, so that a reader sees which one was added. */
  readonly seen: Readonly<Partial<Record<CostName, readonly string[]>>>;
}

export interface RunCosts {
  /** How many records the engine's log has. */
  readonly countLogRecords: () => Promise<number>;
  /** Does `work`, waits until none of it is under way any more, and returns its cost. */
  readonly measure: (work: () => Promise<void>) => Promise<MeasuredRun>;
  readonly stop: () => void;
}

/** Ids differ between runs, and would make the lists of items hard to compare. */
const withoutIds = (text: string): string => text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…").replaceAll(/\s+/g, " ");

/**
 * Statements of timers, which are sent whether or not there are runs: the last use of keys, the repair of epochs, and
 * the sweeps of engine tasks, of runs that are ready to go on, and of expired approvals.
 */
const timerStatements =
  /\b(mark_keys_used|list_lost_epoch_changes|delete_epoch_changes|(count_waiting|claim|delete)_engine_tasks|claim_ready_runs|expire_approvals|count_waiting)\(/;

const recordStatements = /\brecord_runs?\w*\(/;

const byteLength = (values: readonly unknown[]): number =>
  values.reduce<number>((sum, value) => sum + (typeof value === "string" ? Buffer.byteLength(value) : 0), 0);

/**
 * Counts the statements of the database clients of this process. A statement outside `begin` and `commit` is a
 * transaction of its own.
 */
function watchStatements() {
  const spy = vi.spyOn(pg.Client.prototype, "query");
  const takeSent = () => {
    const sent = spy.mock.calls.map(([query, values]: readonly unknown[], i) => {
      const client = spy.mock.contexts[i];
      if (typeof query === "string") return { client, text: query.trim(), values: (values as unknown[]) ?? [] };
      const config = query as { readonly text?: string; readonly values?: readonly unknown[] };
      return { client, text: (config.text ?? "").trim(), values: config.values ?? (values as unknown[]) ?? [] };
    });
    spy.mockClear();
    return sent.filter(({ text }) => !timerStatements.test(text));
  };
  return {
    take: () => {
      const sent = takeSent();
      const open = new Set<unknown>();
      let transactions = 0;
      let recordBytes = 0;
      for (const { client, text, values } of sent) {
        if (/^(commit|rollback)$/i.test(text)) open.delete(client);
        else if (!open.has(client)) transactions++;
        if (/^(begin|start transaction)/i.test(text)) open.add(client);
        if (recordStatements.test(text)) recordBytes += byteLength(values);
      }
      return { transactions, recordBytes, statements: sent.map(({ text }) => withoutIds(text)) };
    },
    stop: () => spy.mockRestore(),
  };
}

/** Counts the commands that clients send to Valkey. The calls of a script within Valkey are part of its one call. */
async function watchValkey(url: string) {
  const client = new Redis(url);
  const monitor = await client.monitor();
  let calls: string[] = [];
  const markers = new Set<string>();
  monitor.on("monitor", (_time: string, [name = "", ...args]: readonly string[], source: string) => {
    if (name === "echo") markers.add(args[0] ?? "");
    // A subscriber pings every two seconds while it has listeners.
    else if (source !== "lua" && name !== "ping")
      calls.push(withoutIds([name, ...args.filter((arg) => arg.startsWith("perch:"))].join(" ")));
  });
  return {
    count: () => calls.length,
    /** Resolves when everything that Valkey has executed is counted. */
    sync: async () => {
      const marker = randomUUID();
      await client.echo(marker);
      await vi.waitUntil(() => markers.delete(marker), { timeout: 10_000, interval: 2 });
    },
    take: () => {
      const taken = calls;
      calls = [];
      return taken;
    },
    stop: () => {
      monitor.disconnect();
      client.disconnect();
    },
  };
}

/** Metrics of the engine, each with the label that distinguishes its parts. */
const engineMetrics = {
  records: ["restate_bifrost_sequencer_committed_records_total"],
  bytes: ["restate_bifrost_sequencer_committed_records_bytes_total"],
  commands: ["restate_partition_apply_command_duration_seconds_count", "command"],
  entries: ["restate_usage_leader_journal_entry_count_total", "entry"],
  ingressRequests: ["restate_ingress_requests_total", "status"],
  workerRequests: ["restate_invoker_client_requests_total", "status_code"],
} as const satisfies Record<string, readonly [metric: string, label?: string]>;
type EngineMetric = keyof typeof engineMetrics;
/** The value of each part of each metric. */
type EngineCounts = Readonly<Record<EngineMetric, ReadonlyMap<string, number>>>;

async function readEngineCounts({ metricsUrl }: RestateNode): Promise<EngineCounts> {
  const lines = (await (await fetch(metricsUrl)).text()).split("\n");
  const read = ([metric, label]: readonly [string, string?]): Map<string, number> => {
    const values = new Map<string, number>();
    for (const line of lines.filter((text) => text.startsWith(`${metric}{`))) {
      const part = label === undefined ? "" : (new RegExp(`[{,]${label}="([^"]*)"`).exec(line)?.[1] ?? "");
      values.set(part, (values.get(part) ?? 0) + Number(line.slice(line.lastIndexOf(" "))));
    }
    return values;
  };
  const counts = Object.entries(engineMetrics).map(([name, metric]) => [name, read(metric)] as const);
  return Object.fromEntries(counts) as Record<EngineMetric, Map<string, number>>;
}

const sum = (parts: ReadonlyMap<string, number>): number =>
  [...parts.values()].reduce((total, value) => total + value, 0);

function engineCost(before: EngineCounts, after: EngineCounts) {
  const growth = (name: EngineMetric): ReadonlyMap<string, number> =>
    new Map([...after[name]].map(([part, value]) => [part, value - (before[name].get(part) ?? 0)]));
  const named = (parts: ReadonlyMap<string, number>): string[] =>
    [...parts].flatMap(([part, by]) => (by > 0 ? [`${by} ${part}`] : [])).toSorted();
  return {
    cost: {
      log_records: sum(growth("records")),
      log_bytes: sum(growth("bytes")),
      journal_entries: sum(growth("entries")),
      engine_requests: growth("ingressRequests").get("admitted") ?? 0,
      worker_requests: sum(growth("workerRequests")),
    },
    seen: { log_records: named(growth("commands")), journal_entries: named(growth("entries")) },
  };
}

/** Periodic services of the cell wait as scheduled invocations. Every other invocation ends. */
async function countOpenInvocations({ adminUrl }: RestateNode): Promise<number | undefined> {
  const query = "select count(*) as open from sys_invocation where status not in ('completed', 'scheduled')";
  const response = await fetch(`${adminUrl}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query }),
  });
  const { rows } = (await response.json()) as { readonly rows: readonly { readonly open: number }[] };
  return rows[0]?.open;
}

const quietMs = 30;

/** Counts the costs of runs: at the database clients of this process, and in a Valkey and an engine of its own. */
export async function countRunCosts(engine: RestateNode, valkeyUrl: string): Promise<RunCosts> {
  const statements = watchStatements();
  const valkey = await watchValkey(valkeyUrl);

  /** Returns the engine's counts once every invocation has ended and nothing more was counted for a while. */
  const settle = async (): Promise<EngineCounts> => {
    for (let last: string | undefined; ; await sleep(quietMs)) {
      await expect.poll(() => countOpenInvocations(engine), { interval: 10 }).toBe(0);
      await valkey.sync();
      const counts = await readEngineCounts(engine);
      const state = JSON.stringify([valkey.count(), sum(counts.records), sum(counts.commands), sum(counts.entries)]);
      if (state === last) return counts;
      last = state;
    }
  };

  let before = await settle();
  return {
    countLogRecords: async () => sum((await readEngineCounts(engine)).records),
    measure: async (work) => {
      statements.take();
      valkey.take();
      await work();
      const after = await settle();
      const { cost, seen } = engineCost(before, after);
      before = after;
      const { transactions, recordBytes, statements: sent } = statements.take();
      const calls = valkey.take();
      const own = { statements: sent.length, transactions, record_bytes: recordBytes, valkey_calls: calls.length };
      return { cost: { ...own, ...cost }, seen: { statements: sent, valkey_calls: calls, ...seen } };
    },
    stop: () => {
      statements.stop();
      valkey.stop();
    },
  };
}
