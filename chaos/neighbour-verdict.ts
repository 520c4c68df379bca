import type { AttackReport } from "./neighbour-attacker.ts";
import { attacks } from "./neighbour-attacks.ts";
import { type Measurements, type Operation, operations } from "./neighbour-victim.ts";
import type { ProcessFigures, ReadinessFigures } from "./neighbour-watch.ts";

/** How much worse the victim may be served while the bad neighbours are at work. */
const maxP50Ratio = 2;
const maxP99Ratio = 3;
/** A 99th percentile up to this is fine, whatever it was before. */
const toleratedP99Ms = 250;
/** The heap may have 512 MiB; the local embedder and buffers are beside it. */
const maxRssMegabytes = 1024;
/** An event loop that does nothing else for longer is not alive. */
const maxLagMs = 1000;

export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

const round = (ms: number): number => Math.round(ms * 10) / 10;

/** By the nearest rank. */
export function quantilesOf(times: readonly number[]): Quantiles {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => round(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

export interface OperationFigures {
  readonly requests: number;
  readonly errors: number;
  readonly calm: Quantiles;
  readonly disturbed: Quantiles;
}

export const compareOperations = (
  calm: Measurements,
  disturbed: Measurements,
): Readonly<Record<Operation, OperationFigures>> =>
  Object.fromEntries(
    operations.map((name) => [
      name,
      {
        requests: disturbed[name].times.length + disturbed[name].errors.length,
        errors: calm[name].errors.length + disturbed[name].errors.length,
        calm: quantilesOf(calm[name].times),
        disturbed: quantilesOf(disturbed[name].times),
      },
    ]),
  ) as Record<Operation, OperationFigures>;

const judgeErrors = (name: string, { requests, errors }: OperationFigures): string[] => [
  ...(requests === 0 ? [`${name}: nothing was measured`] : []),
  ...(errors > 0 ? [`${name}: ${errors} requests failed`] : []),
];

function judgeTimes(name: string, { calm, disturbed }: OperationFigures): string[] {
  const maxP50 = round(calm.p50 * maxP50Ratio);
  const maxP99 = round(Math.max(calm.p99 * maxP99Ratio, toleratedP99Ms));
  return [
    ...(disturbed.p50 > maxP50 ? [`${name}: p50 ${disturbed.p50} ms, at most ${maxP50} ms`] : []),
    ...(disturbed.p99 > maxP99 ? [`${name}: p99 ${disturbed.p99} ms, at most ${maxP99} ms`] : []),
  ];
}

const judgeProcess = (name: string, { hasEnded, maxRssMegabytes: rss }: ProcessFigures): string[] => [
  ...(hasEnded ? [`${name} ended`] : []),
  ...(rss > maxRssMegabytes ? [`${name} used ${Math.round(rss)} MiB, at most ${maxRssMegabytes}`] : []),
];

const judgeLag = (name: string, { maxLagMs: lag }: ProcessFigures): string[] =>
  lag > maxLagMs ? [`${name}: its event loop was blocked for ${Math.round(lag)} ms, at most ${maxLagMs}`] : [];

const judgeReadiness = ({ checks, failures, firstFailure }: ReadinessFigures): string[] => [
  ...(checks === 0 ? ["readiness was not checked"] : []),
  ...(failures > 0 ? [`/readyz failed ${failures} of ${checks} times: ${firstFailure}`] : []),
];

/**
 * Requests that Perch refuses as invalid attack nothing. The test is about failures and about refusals for lack of a
 * share.
 */
const misunderstood = ["400", "401", "403", "404", "405", "413", "415", "422"];

function judgeAttack(name: string, statuses: Readonly<Record<string, number>>): string[] {
  const wrong = misunderstood.filter((status) => statuses[status] && status !== attacks[name]?.refusal);
  const effective = Object.entries(statuses).some(([status, count]) => status !== "429" && count > 0);
  return [
    ...wrong.map((status) => `the attack ${name} is not what it should be: ${statuses[status]} answers ${status}`),
    ...(effective ? [] : [`the attack ${name} attacked nothing`]),
  ];
}

export interface Findings {
  readonly operations: Readonly<Record<string, OperationFigures>>;
  readonly readiness: ReadinessFigures;
  readonly processes: Readonly<Record<string, ProcessFigures>>;
  readonly attacks: AttackReport;
  /** Shares of the machine's time during the attacks: taken by other virtual machines, and idle. */
  readonly machine: { readonly stolen: number; readonly idle: number };
}

export interface Verdict {
  /** Everything that is not as promised, a line each. */
  readonly problems: readonly string[];
  /** The judgements that the machine did not allow, and why. */
  readonly notJudged: readonly string[];
}

/**
 * If the shared cores have little time left, durations only reflect the number of cores: at 15 % idle on average,
 * bursts fill them.
 */
const minIdleShare = 0.25;
/** A machine that stands still for this part of the time fails requests by itself. */
const maxStolenShare = 0.1;

/** The 99th percentile of fewer is the slowest single one. */
const minRequests = 100;

const percent = (share: number): string => `${Math.round(share * 100)} %`;

export function judge({ operations: measured, readiness, processes, attacks, machine }: Findings): Verdict {
  const eachOperation = (judgeOne: typeof judgeTimes) =>
    Object.entries(measured).flatMap(([name, figures]) => judgeOne(name, figures));
  const eachProcess = (judgeOne: typeof judgeLag) =>
    Object.entries(processes).flatMap(([name, figures]) => judgeOne(name, figures));
  const problems = [
    ...eachProcess(judgeProcess),
    ...Object.entries(attacks).flatMap(([name, statuses]) => judgeAttack(name, statuses)),
  ];
  const notJudged: string[] = [];
  if (machine.stolen > maxStolenShare)
    notJudged.push(`errors and readiness are not judged: other machines took ${percent(machine.stolen)} of this one`);
  else problems.push(...eachOperation(judgeErrors), ...judgeReadiness(readiness));
  const fewest = Math.min(...Object.values(measured).map(({ requests }) => requests));
  if (fewest > 0 && fewest < minRequests)
    notJudged.push(`times are not judged: ${fewest} requests are too few; without --short there are enough`);
  else if (machine.idle < minIdleShare)
    notJudged.push(`times are not judged: only ${percent(machine.idle)} of the machine was idle`);
  else problems.push(...eachOperation(judgeTimes), ...eachProcess(judgeLag));
  return { problems, notJudged };
}
