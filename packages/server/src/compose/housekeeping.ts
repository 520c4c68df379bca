import { maintainPartitions } from "../db/partitions.ts";
import { listTurns } from "../db/releases.ts";
import { createEngineAdmin } from "../engine/engine-admin.ts";
import { retireOldReleases } from "../engine/retire-release.ts";
import { finishOpenClears } from "../resources/memory/run-clear.ts";
import { type HousekeepingStep, housekeepingService } from "../workflows/housekeeping.ts";
import type { Core } from "./core.ts";

/** What is done every hour, once in a cell, in this order. */
export function composeHousekeeping({ config, logger, nowMs, telemetry, db, memory }: Core) {
  const partitions = async (): Promise<void> => {
    const tables = await maintainPartitions(db.unscoped);
    if (tables.length > 0) logger.warn({ tables }, "expired partitions are in use, dropped with the next housekeeping");
  };
  const releases = async (): Promise<void> => {
    const turns = await listTurns(db.unscoped);
    const retired = await retireOldReleases({ admin: createEngineAdmin(config.adminUrls), turns, nowMs: nowMs() });
    if (retired.length > 0) logger.info({ retired }, "addresses of earlier releases retired");
  };
  const steps: readonly HousekeepingStep[] = [
    { name: "partitions", run: partitions },
    { name: "clears", run: () => finishOpenClears(db, memory.runClear) },
    { name: "releases", run: releases },
  ];
  return housekeepingService({ now: async () => nowMs(), steps: telemetry.timeHousekeeping(steps) });
}
