import type { Sweeper } from "../platform/sweep-every.ts";
import type { ContinueRuns } from "../resources/approvals/continue-runs.ts";
import { createExpireApprovals } from "../resources/approvals/expire-approvals.ts";
import type { Core } from "./core.ts";

/** Every process looks for approvals whose time is over. */
export const composeExpireApprovals = (
  { db, logger, nowMs, telemetry }: Core,
  continueRuns: Pick<ContinueRuns, "start">,
): Sweeper =>
  createExpireApprovals({
    db: db.unscoped,
    continueRuns,
    logger,
    now: nowMs,
    onExpired: (approvals) => telemetry.approvalDecided("expired", approvals),
    sweepEverySeconds: 5,
  });
