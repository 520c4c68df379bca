import { LRUCache } from "lru-cache";
import { createPageReader, pageSize } from "./page-reader.ts";
import type { RunEvent, RunStreams, StoredEvent } from "./run-streams.ts";
import { maxStreamBytes, maxTextLength, streamTtlMs, ttlAfter, withoutContents } from "./stream-limits.ts";
import { textOfStep } from "./text-diff.ts";
import { type Claim, createTextWriter, type TextStore } from "./text-writer.ts";

interface RunLog {
  /** Differs from that of any earlier log of the run, and is greater. */
  readonly epoch: number;
  readonly events: StoredEvent[];
  bytes: number;
  owner?: { readonly claim: Claim; readonly step: number; readonly from: number };
}

interface LocalStreamsLimits {
  readonly maxRuns?: number;
  /** The limits for one run and for all runs. The least recently used run is evicted first. */
  readonly maxBytes?: number;
  readonly maxBytesOfAll?: number;
}

const sizeOf = (event: RunEvent): number =>
  100 + (event.type === "token" ? event.text.length : JSON.stringify(event).length);

/** For an installation of one process, without Valkey. */
export function createLocalStreams(now: () => number, limits: LocalStreamsLimits = {}): RunStreams {
  const { maxRuns = 10_000, maxBytes = maxStreamBytes, maxBytesOfAll = 256 * 1024 * 1024 } = limits;
  const logs = new LRUCache<string, RunLog>({
    max: maxRuns,
    maxSize: maxBytesOfAll,
    ttl: streamTtlMs,
    ttlResolution: 0,
    perf: { now },
  });
  const listeners = new Map<string, Set<() => void>>();
  let lastEpoch = 0;
  let isClosed = false;

  const keep = (runId: string, log: RunLog, ttl = streamTtlMs): void =>
    void logs.set(runId, log, { size: log.bytes + 200, ttl });
  const logOf = (runId: string): RunLog => {
    const present = logs.get(runId);
    if (present) return present;
    lastEpoch = Math.max(now(), lastEpoch + 1);
    return { epoch: lastEpoch, events: [], bytes: 0 };
  };
  const wake = (runId: string): void => {
    for (const listener of listeners.get(runId) ?? []) listener();
  };
  const add = (runId: string, log: RunLog, event: RunEvent): void => {
    log.events.push({ id: `${log.epoch}-${log.events.length + 1}`, event });
    log.bytes += sizeOf(event);
    keep(runId, log, ttlAfter(event));
    wake(runId);
  };

  const storeOf = (runId: string, step: number): TextStore => ({
    // The same rules as in takeScript.
    take: async (claim) => {
      const log = logOf(runId);
      const { owner } = log;
      if (owner && owner.step > step) return undefined;
      const ownerIsNewer = owner?.step === step && owner.claim.startedAtMs >= claim.startedAtMs;
      if (ownerIsNewer && owner.claim.writer !== claim.writer && claim.generation > 1) return undefined;
      const from = owner?.step === step ? owner.from : log.events.length;
      log.owner = { claim, step, from };
      keep(runId, log);
      const events = log.events.slice(from).map(({ event }) => event);
      return textOfStep(events, step);
    },
    put: async ({ writer }, token) => {
      const log = logs.get(runId);
      if (!log?.owner) return "lost";
      if (log.owner.claim.writer !== writer) return "taken";
      const event = { type: "token", step, ...token } as const;
      if (log.bytes + sizeOf(event) > maxBytes) return "full";
      add(runId, log, event);
      return "put";
    },
  });

  const read = createPageReader({
    listen: (runId, listener) => {
      const all = listeners.get(runId) ?? new Set();
      listeners.set(runId, all.add(listener));
      return () => {
        all.delete(listener);
        if (all.size === 0) listeners.delete(runId);
      };
    },
    page: async (runId, after) => {
      const log = logs.get(runId);
      if (!log) return [];
      const [epoch = 0, count = 0] = after?.split("-").map(Number) ?? [];
      if (epoch > log.epoch) return [];
      const from = epoch === log.epoch ? count : 0;
      return log.events.slice(from, from + pageSize);
    },
    isListening: () => true,
    isClosed: () => isClosed,
  });

  return {
    writeText: (runId, step) =>
      createTextWriter({
        store: storeOf(runId, step),
        now,
        maxTextLength: Math.min(maxBytes, maxTextLength),
        onFailure: () => undefined,
      }),
    append: async (runId, event) => {
      const log = logOf(runId);
      add(runId, log, log.bytes + sizeOf(event) > maxBytes ? withoutContents(event) : event);
    },
    read,
    delete: async (runIds) => runIds.filter((runId) => logs.delete(runId)).length,
    close: async () => {
      isClosed = true;
      for (const runId of listeners.keys()) wake(runId);
    },
  };
}
