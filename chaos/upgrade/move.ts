import { setTimeout as sleep } from "node:timers/promises";
import { interruption } from "@perch/testkit/services/commands.ts";
import { createEngineAdmin } from "../../packages/server/src/engine/engine-admin.ts";
import { logProgress } from "../log-progress.ts";
import type { Installation } from "./installation.ts";
import type { Release } from "./release.ts";
import { addApiNode, removeApiNode, type Serving, startWorkers, stopProcess } from "./serving.ts";

/** A change of release under load. */
export interface Move {
  readonly from: string;
  readonly to: string;
  readonly seconds: number;
  /** Runs that had begun on the old release when new ones went to the other. */
  readonly pinned_runs: number;
  /** From then until the last of them had ended and the old workers were stopped. */
  readonly drained_after_seconds: number;
}

interface ReleaseRow {
  readonly id: string | null;
  readonly address: string | null;
  readonly runs: number;
  readonly state: string;
}

const retireSeconds = 180;

/**
 * From here on, new runs go to the workers of `to` once there are some. Release 0.1.0 cannot set that itself, so the
 * other release sets it; otherwise the workers of 0.1.0 would take the runs back.
 */
async function activate({ settings }: Installation, from: Release, to: Release): Promise<void> {
  if (to.hasTurns) {
    await to.run(settings, ["migrate", "--activate-release"]);
    return;
  }
  await to.run(settings, ["migrate"]);
  if (from.hasTurns) await from.run({ ...settings, PERCH_RELEASE: to.name }, ["activate-release"]);
}

async function countBound({ engine }: Installation, { workerUrl }: Serving): Promise<number> {
  const admin = createEngineAdmin(engine.adminUrls);
  const own = (await admin.listDeployments()).filter(({ uri }) => uri.startsWith(workerUrl));
  const pinned = await admin.countBound();
  return own.reduce((sum, { id }) => sum + (pinned.get(id) ?? 0), 0);
}

/** Waits until `perch-server releases` shows that nothing needs the address any longer, and retires it. */
async function retire({ settings }: Installation, { workerUrl }: Serving, by: Release): Promise<void> {
  const deadline = performance.now() + retireSeconds * 1000;
  for (;;) {
    const rows = (await by.run(settings, ["releases", "--json"]))
      .split("\n")
      .map((line) => JSON.parse(line) as ReleaseRow)
      .filter(({ id, address }) => id !== null && address?.startsWith(workerUrl));
    const waiting = rows.filter(({ state }) => state !== "can be retired");
    if (rows.length > 0 && waiting.length === 0) {
      for (const { id } of rows) await by.run(settings, ["retire", "--id", id ?? ""]);
      return;
    }
    if (performance.now() > deadline)
      throw new Error(`${workerUrl} cannot be retired after ${retireSeconds} s: ${JSON.stringify(rows)}`);
    logProgress(
      `waiting to retire ${workerUrl}: ${rows.map(({ runs, state }) => `${runs} runs, ${state}`).join("; ")}`,
    );
    await sleep(2000, undefined, { signal: interruption.signal });
  }
}

/**
 * Ends the old workers when no run needs them. Either they wait for that themselves, or an operator does with
 * `releases` and `retire`.
 */
async function endWorkers(installation: Installation, old: Serving, to: Release, retires: boolean): Promise<void> {
  const operator = [to, old.release].find(({ hasTurns }) => hasTurns);
  if (retires || !old.release.hasTurns) {
    if (!operator) throw new Error("Neither release has `perch-server retire`: one of them must be 0.2.0 or newer.");
    await retire(installation, old, operator);
  }
  await Promise.all(old.workers.map((worker) => stopProcess(installation, worker)));
}

/**
 * Replaces a release by another as docs/operations/upgrade.md describes: schema, workers, API nodes one after the
 * other, old workers.
 */
export async function moveTo(
  installation: Installation,
  old: Serving,
  to: Release,
  { retires }: { readonly retires: boolean },
): Promise<{ readonly serving: Serving; readonly move: Move }> {
  const from = old.release.name;
  const startedAt = performance.now();
  logProgress(`from ${from} to ${to.name}: migrate and activate`);
  await activate(installation, old.release, to);
  const serving = await startWorkers(installation, to);
  const switchedAt = performance.now();
  const pinned = await countBound(installation, old);
  logProgress(`new runs go to ${to.name}; ${pinned} runs have to end on ${from}`);
  while (old.apis.length > 0) {
    await addApiNode(installation, serving);
    await removeApiNode(installation, old);
    logProgress(`one API node of ${from} replaced`);
  }
  await endWorkers(installation, old, to, retires);
  logProgress(`the workers of ${from} have ended`);
  const secondsSince = (atMs: number) => Math.round((performance.now() - atMs) / 100) / 10;
  return {
    serving,
    move: {
      from,
      to: to.name,
      seconds: secondsSince(startedAt),
      pinned_runs: pinned,
      drained_after_seconds: secondsSince(switchedAt),
    },
  };
}
