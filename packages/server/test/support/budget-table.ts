import { type CostName, costNames, type MeasuredRun, type RunCost } from "./run-costs.ts";

export type Budget = ReadonlyMap<string, RunCost>;

/** Durations are written as decimal numbers, so the bytes of equal runs differ by a few digits. */
const toleratedBytes = 12;

const isBytes = (name: CostName): boolean => name.endsWith("_bytes");
const countNames = costNames.filter((name) => !isBytes(name));

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

/** The run with the lowest counts: others paid for something else that happened at the same time. */
export const findCheapestRun = (runs: readonly MeasuredRun[]): MeasuredRun => {
  const countsOf = ({ cost }: MeasuredRun) => countNames.reduce((sum, name) => sum + cost[name], 0);
  const [first, ...others] = runs;
  if (!first) throw new Error("no run was measured");
  return others.reduce((cheapest, run) => (countsOf(run) < countsOf(cheapest) ? run : cheapest), first);
};

/** The differences from the budget: a line for each cost, then the observed items. */
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
