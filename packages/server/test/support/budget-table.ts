import { type CostName, costNames, type MeasuredRun, type RunCost } from "./run-costs.ts";

export type Budget = ReadonlyMap<string, RunCost>;

/** Durations are written as decimal numbers, so the bytes of equal runs differ by a few digits. */
const toleratedBytes = 12;

const isBytes = (name: CostName): boolean => name.endsWith("_bytes");
const countNames = costNames.filter((name) => !isBytes(name));
const byteNames = costNames.filter(isBytes);

/** Reads a table as `writeBudget` writes it. */
export function readBudget(table: string): Budget {
  const [header = [], ...rows] = table
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  const expected = ["run", ...costNames].join(" ");
  if (header.join(" ") !== expected) throw new Error(`the header of the table must be: ${expected}`);
  return new Map(
    rows.map(([kind = "", ...values]) => {
      const cost = Object.fromEntries(costNames.map((name, i) => [name, Number(values[i])]));
      return [kind, cost as Record<CostName, number>];
    }),
  );
}

export function writeBudget(budget: Budget): string {
  const width = Math.max(...[...budget.keys()].map(({ length }) => length));
  const line = (first: string, cells: readonly string[]) => [first.padEnd(width), ...cells].join("  ");
  const rows = [...budget].map(([kind, cost]) =>
    line(
      kind,
      costNames.map((name) => String(cost[name]).padStart(name.length)),
    ),
  );
  return [line("run", costNames), ...rows].join("\n");
}

const countsOf = ({ cost }: MeasuredRun): string => countNames.map((name) => `${name} ${cost[name]}`).join(", ");

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

export const haveSameCounts = (runs: readonly MeasuredRun[]): boolean => new Set(runs.map(countsOf)).size === 1;

/** The run that stands for all of them: the majority has its counts, and its bytes are the median of that majority. */
export function findTypicalRun(runs: readonly MeasuredRun[]): MeasuredRun {
  const groups = Object.values(Object.groupBy(runs, countsOf));
  const majority = groups.find((group = []) => group.length * 2 > runs.length);
  const [first] = majority ?? [];
  if (!majority || !first) throw new Error(`most runs differ in what they cost:\n${runs.map(countsOf).join("\n")}`);
  const bytes = byteNames.map((name) => [name, median(majority.map(({ cost }) => cost[name]))]);
  return { ...first, cost: { ...first.cost, ...Object.fromEntries(bytes) } };
}

/** What differs from the budget: a line for each cost, then what was seen of it. */
export function listDifferences(kind: string, budget: Budget, { cost, seen }: MeasuredRun): string[] {
  const expected = budget.get(kind);
  if (!expected) return [`${kind}: not in the table`];
  const isWithin = (name: CostName) => Math.abs(cost[name] - expected[name]) <= (isBytes(name) ? toleratedBytes : 0);
  return costNames
    .filter((name) => !isWithin(name))
    .flatMap((name) => [
      `${kind}: ${name} ${cost[name]} instead of ${expected[name]}`,
      ...(seen[name] ?? []).map((text) => `    ${text.slice(0, 110)}`),
    ]);
}
