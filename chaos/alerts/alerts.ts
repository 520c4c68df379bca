import { setTimeout as sleep } from "node:timers/promises";
import { readRunbook } from "@perch/testkit/runbook.ts";
import { findOnPath, interruption, Problem, waitUntil } from "@perch/testkit/services/commands.ts";
import { elapsedSeconds, logProgress } from "../log-progress.ts";
import type { AlertCase } from "./alert-case.ts";
import { readRules, type Shortening, shortenExpression, shortenRules } from "./alert-rules.ts";
import { alertCases } from "./cases.ts";
import { type Installation, startInstallation } from "./installation.ts";
import { type Prometheus, startPrometheus } from "./prometheus.ts";

interface AlertOptions {
  readonly short: boolean;
  readonly json: boolean;
  /** Names of alerts, separated by commas; otherwise all. */
  readonly only: string | undefined;
}

interface Plan {
  readonly scrapeMs: number;
  readonly engineNodes: number;
}

/** A process that waits for a silent part takes a second to answer, and Prometheus must wait for it. */
const fullPlan: Plan = { scrapeMs: 1500, engineNodes: 3 };
/** No part is silent in the short form. */
const shortPlan: Plan = { scrapeMs: 750, engineNodes: 1 };
const factor = 120;
const scrapesInRange = 4;
const maxRangeMs = 30_000;
const maxSecondsToFire = 90;
const maxSecondsToClear = 120;
const reportSeconds = 10;
/** A rule has at most two ranges, that of its rate or gauge, and `for`. Most of them are the shortest. */
const rangesWithoutFault = 3;

/** The observations of one alert. Times count from the fault, and `cleared` counts from its repair. */
interface Row {
  readonly alert: string;
  readonly fault: string;
  pending_s: number | null;
  firing_s: number | null;
  cleared_s: number | null;
  /** How many series the query of the runbook found while the alert fired. */
  confirmed: number;
  /** Other alerts that fired until this one had cleared. */
  also: string;
  ok: boolean;
}

interface Watch {
  readonly prometheus: Prometheus;
  readonly shortening: Shortening;
}

const round = (seconds: number) => Math.round(seconds * 10) / 10;

function noteOthers(row: Row, states: Awaited<ReturnType<Prometheus["states"]>>, rows: readonly Row[]): void {
  const others = [...states].flatMap(([name, state]) =>
    state === "firing" && rows.every(({ alert }) => alert !== name) ? [name] : [],
  );
  row.also = [...new Set([...row.also.split(" "), ...others])].filter(Boolean).join(" ");
}

/** Watches until every alert has the state, and notes when it had. Returns whether all had it in time. */
async function watchAll(
  { prometheus }: Watch,
  rows: readonly Row[],
  seconds: number,
  note: (row: Row, state: "pending" | "firing" | undefined, since: number) => boolean,
): Promise<boolean> {
  const startedAt = elapsedSeconds();
  let reportedAt = startedAt;
  return waitUntil(async () => {
    const states = await prometheus.states();
    for (const row of rows) noteOthers(row, states, rows);
    const since = elapsedSeconds() - startedAt;
    if (elapsedSeconds() - reportedAt > reportSeconds) {
      reportedAt = elapsedSeconds();
      logProgress(`  ${[...states].map(([name, state]) => `${name} ${state}`).join(", ") || "no alert"}`);
    }
    return rows.map((row) => note(row, states.get(row.alert), since)).every(Boolean);
  }, seconds);
}

const noteFiring = (row: Row, state: "pending" | "firing" | undefined, since: number): boolean => {
  if (state !== undefined) row.pending_s ??= round(since);
  if (state === "firing") row.firing_s ??= round(since);
  return row.firing_s !== null;
};

const noteCleared = (row: Row, state: "pending" | "firing" | undefined, since: number): boolean => {
  // Also one that comes back while others have not cleared yet.
  row.cleared_s = state === "firing" ? null : (row.cleared_s ?? round(since));
  return row.cleared_s !== null;
};

async function confirm({ prometheus, shortening }: Watch, row: Row): Promise<void> {
  const query = readRunbook().find(({ alert }) => alert === row.alert)?.query ?? "";
  row.confirmed = await prometheus.count(shortenExpression(query, shortening));
}

/** The alerts that fire although nothing is broken. */
async function findFalseAlarms({ prometheus, shortening }: Watch): Promise<string[]> {
  await sleep(shortening.minMs * rangesWithoutFault, undefined, { signal: interruption.signal });
  return [...(await prometheus.states()).keys()];
}

async function provoke(
  watch: Watch,
  installation: Installation,
  { fault, fires, cause, maxSeconds }: AlertCase,
  rows: readonly Row[],
): Promise<void> {
  const names = Object.keys(fires).join(", ");
  logProgress(`fault: ${fault}`);
  if (!(await watchAll(watch, rows, maxSecondsToClear, (_, state) => state === undefined)))
    throw new Error(`${names}: active before the fault`);
  const { repair, end } = await cause(installation);
  try {
    const haveFired = await watchAll(watch, rows, maxSeconds ?? maxSecondsToFire, noteFiring);
    for (const row of rows) await confirm(watch, row);
    logProgress(haveFired ? `  ${names} fired; following the runbook` : "  not all fired");
    await repair();
    await watchAll(watch, rows, maxSecondsToClear, noteCleared);
  } finally {
    await end?.();
  }
  for (const row of rows) {
    row.ok = row.firing_s !== null && row.cleared_s !== null && row.confirmed > 0;
    logProgress(`  ${row.alert}: firing after ${row.firing_s} s, cleared after ${row.cleared_s} s`);
  }
}

/** A case that breaks does not prevent the others from being tried. */
async function runCase(watch: Watch, installation: Installation, each: AlertCase): Promise<Row[]> {
  const rows = Object.keys(each.fires).map(
    (alert): Row => ({
      alert,
      fault: each.fault,
      pending_s: null,
      firing_s: null,
      cleared_s: null,
      confirmed: 0,
      also: "",
      ok: false,
    }),
  );
  await provoke(watch, installation, each, rows).catch((error: unknown) => {
    interruption.signal.throwIfAborted();
    console.error(error);
  });
  return rows;
}

function chooseCases({ only, short }: AlertOptions): readonly AlertCase[] {
  const known = alertCases.flatMap(({ fires }) => Object.keys(fires));
  const names = only?.split(",");
  const unknown = names?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length > 0) throw new Problem(`--only: unknown ${unknown.join(", ")}. Known: ${known.join(", ")}`);
  if (names) return alertCases.filter(({ fires }) => names.some((name) => name in fires));
  return short ? alertCases.filter(({ isShort }) => isShort) : alertCases;
}

function requireTools(): void {
  const missing = ["prometheus", "valkey-server"].filter((tool) => !findOnPath(tool));
  if (missing.length === 0) return;
  throw new Problem(
    `Not on PATH: ${missing.join(", ")}. \`pnpm services up\` installs Valkey; for Prometheus: apt-get install prometheus`,
  );
}

function print(rows: readonly Row[], falseAlarms: readonly string[], shortening: Shortening, json: boolean): void {
  const failed = rows.filter(({ ok }) => !ok).length;
  const seconds = Math.round(elapsedSeconds());
  const figures = { alerts: rows.length, failed, without_fault: falseAlarms.join(", "), seconds, ...shortening };
  if (json) console.log(JSON.stringify({ ...figures, rows }));
  else for (const table of [rows, figures]) console.table(table);
}

/**
 * Causes the fault of each alert, and returns whether each fired and cleared. `promtool` with invented series proves a
 * rule only for the series that its author imagined. For example, a counter that vanishes with its process makes a
 * comparison empty instead of true. Ranges and `for` are shorter here, and thresholds are not, so the test really waits
 * for a threshold that is a time.
 */
export async function runAlerts(options: AlertOptions): Promise<boolean> {
  requireTools();
  const cases = chooseCases(options);
  const { scrapeMs, engineNodes } = options.short ? shortPlan : fullPlan;
  const shortening = { factor, minMs: scrapeMs * scrapesInRange, maxMs: maxRangeMs };
  logProgress(`times of the rules are divided by ${factor}, and are ${shortening.minMs} to ${maxRangeMs} ms`);
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of stops.toReversed()) await Promise.resolve(end()).catch((error: unknown) => console.error(error));
  };
  interruption.signal.addEventListener("abort", () => void stop().finally(() => process.exit(130)));
  try {
    const prometheus = await startPrometheus(shortenRules(readRules(), shortening), scrapeMs);
    stops.push(prometheus.stop);
    const installation = await startInstallation(engineNodes, prometheus.watch, stops);
    logProgress("started Prometheus, PostgreSQL, Valkey, the engine, an API node and a worker");
    const watch = { prometheus, shortening };
    const falseAlarms = await findFalseAlarms(watch);
    const rows: Row[] = [];
    for (const each of cases) rows.push(...(await runCase(watch, installation, each)));
    print(rows, falseAlarms, shortening, options.json);
    return falseAlarms.length === 0 && rows.every(({ ok }) => ok);
  } finally {
    await stop();
  }
}
