import type { Figures } from "../comparison.ts";
import { maxRatio } from "../side-by-side.ts";
import { approvalList } from "./approval-list.ts";
import { waitingRuns } from "./waiting-runs.ts";

export const approvalKinds = ["waiting", "list"] as const;

interface ApprovalOptions {
  readonly short: boolean;
  readonly kinds: readonly (typeof approvalKinds)[number][];
}

const full = { runs: 10_000, approvals: 1_000_000 };
const short = { runs: 500, approvals: 20_000 };

/** Figures that are not as promised, a line each. */
function describeBroken(figures: Figures): string[] {
  const isBroken = ([name, value]: [string, Figures[string]]): boolean =>
    name.endsWith("_p95_ratio") ? Number(value) > maxRatio : /^(runs_in_engine|slots_held)$/.test(name) && value !== 0;
  return Object.entries(figures)
    .filter(isBroken)
    .map(
      ([name, value]) =>
        `${name} is ${Number(value)}, and should be ${name.endsWith("ratio") ? `at most ${maxRatio}` : 0}`,
    );
}

/** What runs that wait for a person cost, and what the list of approvals costs where there are many. */
export async function approvals(options: ApprovalOptions): Promise<Figures> {
  const sizes = options.short ? short : full;
  const figures = {
    ...(options.kinds.includes("waiting") && (await waitingRuns(sizes.runs))),
    ...(options.kinds.includes("list") && (await approvalList(sizes.approvals))),
  };
  const broken = describeBroken(figures);
  for (const line of broken) console.error(line);
  if (broken.length > 0) process.exitCode = 1;
  return figures;
}
