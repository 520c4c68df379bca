import type { Figures } from "../comparison.ts";
import { approvalList, maxRatio } from "./approval-list.ts";
import { waitingRuns } from "./waiting-runs.ts";

interface ApprovalSizes {
  readonly runs: number;
  readonly approvals: number;
}

const full: ApprovalSizes = { runs: 10_000, approvals: 1_000_000 };
const short: ApprovalSizes = { runs: 500, approvals: 20_000 };

/** What runs that wait for a person cost, and what the list of approvals costs where there are many. */
export async function approvals(options: { readonly short: boolean }): Promise<Figures> {
  const sizes = options.short ? short : full;
  const figures = { ...(await waitingRuns(sizes.runs)), ...(await approvalList(sizes.approvals)) };
  const exceeded = Object.entries(figures).filter(
    ([name, value]) => name.endsWith("p95_ratio") && Number(value) > maxRatio,
  );
  for (const [name, value] of exceeded) console.error(`${name} is ${Number(value)}, at most ${maxRatio}`);
  if (exceeded.length > 0 || figures.runs_in_engine !== 0 || figures.slots_held !== 0) process.exitCode = 1;
  return figures;
}
