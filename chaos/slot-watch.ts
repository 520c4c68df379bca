import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { listOpenParts } from "@perch/testkit/installation/engine-invocations.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { connectValkey } from "../packages/server/src/limits/valkey-gate.ts";
import { runIdOfPart } from "../packages/server/src/platform/ids.ts";
import { createLogger } from "../packages/server/src/platform/logger.ts";
import type { Cluster } from "./cluster.ts";
import type { Fault } from "./faults.ts";
import { logFile } from "./perch-process.ts";

/** The findings of one sample: the parts that occupy a slot while no run is under way for them. */
export interface SlotSample {
  readonly atMs: number;
  readonly withoutRun: readonly string[];
}

const maxOutliveMs = 10_000;
/**
 * An API node that is killed after it took a slot and before the engine has the run leaves a slot of a run that never began. Its
 * lease or reconcile, which the cluster runs every 10 s, frees it.
 */
const maxNeverBegunMs = 45_000;

interface Sighting {
  readonly sinceMs: number;
  reported: boolean;
}

/**
 * Slots that had no run in every sample for longer than allowed. `neverBegun`: slots that a killed API node had taken
 * for its runs.
 */
export class OutlivingSlots {
  readonly found: string[] = [];
  readonly #seen = new Map<string, Sighting>();
  #longestMs = 0;

  add({ atMs, withoutRun }: SlotSample, neverBegun: ReadonlySet<string>): void {
    for (const part of this.#seen.keys()) if (!withoutRun.includes(part)) this.#seen.delete(part);
    for (const part of withoutRun) {
      const sighting = this.#seen.get(part) ?? { sinceMs: atMs, reported: false };
      this.#seen.set(part, sighting);
      const forMs = atMs - sighting.sinceMs;
      if (!neverBegun.has(part)) this.#longestMs = Math.max(this.#longestMs, forMs);
      if (sighting.reported || forMs <= (neverBegun.has(part) ? maxNeverBegunMs : maxOutliveMs)) continue;
      sighting.reported = true;
      this.found.push(`${part}: held a slot ${(forMs / 1000).toFixed(1)} s after its run had ended`);
    }
  }

  /** A store did not answer, so nothing is known of the time since the last sample. */
  forget(): void {
    this.#seen.clear();
  }

  longestSeconds = (): number => this.#longestMs / 1000;
}

/**
 * Reconcile may look before processes that have just got Valkey back release the slots that they could not release
 * earlier.
 */
const catchUpMs = 5000;

/**
 * Reconcile must find nothing to free, unless a part stood still or an API node was killed before the engine had the
 * run.
 */
async function findFreed(adminUrl: string, wasApiKilled: boolean, faults: readonly Fault[]): Promise<string[]> {
  const isAfterFault = (atMs: number): boolean =>
    faults.some(({ fromMs, repairedMs }) => atMs >= fromMs && atMs <= repairedMs + catchUpMs);
  const lines = readFileSync(logFile, "utf8")
    .split("\n")
    .filter((line) => line.includes(freedMessage));
  const parts = lines
    .map((line) => JSON.parse(line) as { readonly part: string; readonly time: string })
    .filter(({ time }) => !isAfterFault(Date.parse(time) - performance.timeOrigin))
    .map(({ part }) => part);
  const records = parts.length === 0 ? new Map() : await findRecords(adminUrl, parts.map(runIdOfPart));
  return parts
    .filter((part) => !wasApiKilled || records.has(runIdOfPart(part)))
    .map((part) => `${part}: reconcile had to free its slot`);
}

export interface SlotWatch {
  /** Waits until no slot is occupied without a run, or until such a slot has been reported. */
  readonly settle: () => Promise<void>;
  readonly outliving: OutlivingSlots;
  /** Returns all slots that were occupied for too long. */
  readonly stop: (faults: readonly Fault[]) => Promise<readonly string[]>;
}

const sampleEveryMs = 1000;
const maxSampleMs = 3000;
const freedMessage = "slot of a run that is not under way freed";
const agentKey = /^perch:runs:[^:]+:[^:]+$/;

async function listHeld(valkey: ReturnType<typeof connectValkey>): Promise<string[]> {
  const keys = (await valkey.keys("perch:runs:*")).filter((key) => agentKey.test(key));
  const now = Math.floor(Date.now() / 1000);
  return (await Promise.all(keys.map((key) => valkey.zrangebyscore(key, now, "+inf")))).flat();
}

/** The status of each of these runs that has a record. */
const findRecords = (adminUrl: string, ids: readonly string[]) =>
  withClient(adminUrl, async (client) => {
    await client.query("set statement_timeout = '2s'");
    const { rows } = await client.query<{ id: string; status: string }>(
      "select id, status from invocations where id = any($1::uuid[])",
      [ids],
    );
    return new Map(rows.map(({ id, status }) => [id, status]));
  });

/**
 * Compares, once a second, the slots occupied in Valkey with the runs that the database and the engine know to be under
 * way.
 */
export function watchSlots({ valkey, postgres, engine }: Cluster, wasApiKilled: () => boolean): SlotWatch {
  const client = connectValkey(valkey.url, 1000, createLogger("silent"));
  const outliving = new OutlivingSlots();
  let watching = true;
  let last: SlotSample | undefined;
  let maxHeld = 0;

  const sample = async (): Promise<void> => {
    const startedMs = performance.now();
    const held = await listHeld(client);
    const records = held.length === 0 ? new Map() : await findRecords(postgres.adminUrl, held.map(runIdOfPart));
    const notRunning = held.filter((part) => records.get(runIdOfPart(part)) !== "running");
    const open = notRunning.length === 0 ? new Set() : await listOpenParts(engine);
    const withoutRun = notRunning.filter((part) => !open.has(part));
    const neverBegun = withoutRun.filter((part) => wasApiKilled() && !records.has(runIdOfPart(part)));
    last = { atMs: performance.now(), withoutRun };
    // A store stood still meanwhile, and so did the requests that occupy a slot and are not accepted yet.
    if (last.atMs - startedMs > maxSampleMs) outliving.forget();
    maxHeld = Math.max(maxHeld, held.length);
    outliving.add(last, new Set(neverBegun));
  };

  const watch = async (): Promise<void> => {
    while (watching) {
      await sample().catch(() => outliving.forget());
      await sleep(sampleEveryMs);
    }
  };
  const watched = watch();

  return {
    outliving,
    settle: async () => {
      const reported = outliving.found.length;
      const until = performance.now() + maxNeverBegunMs + 5000;
      const isSettled = () => last?.withoutRun.length === 0 || outliving.found.length > reported;
      for (await sleep(2 * sampleEveryMs); !isSettled() && performance.now() < until; ) await sleep(sampleEveryMs);
    },
    stop: async (faults) => {
      watching = false;
      await watched;
      client.disconnect();
      if (maxHeld === 0) throw new Error("No run was seen to hold a slot, so nothing was compared");
      return [...outliving.found, ...(await findFreed(postgres.adminUrl, wasApiKilled(), faults))];
    },
  };
}
