import { indexPartitions, maintainPartitions } from "../db/partitions.ts";
import { listTurns } from "../db/releases.ts";
import type { Engine } from "../engine/engine.ts";
import { createEngineAdmin } from "../engine/engine-admin.ts";
import { retireOldReleases } from "../engine/retire-release.ts";
import { createRevokeAtProvider } from "../resources/connections/revoke-at-provider.ts";
import { createClearLeftMemory } from "../resources/memory/clear-deleted-agent.ts";
import type { Step } from "../resources/resource.ts";
import { housekeepingService } from "../workflows/housekeeping.ts";
import { type Core, depsOf } from "./core.ts";
import { createHousekeeping, purgedTables } from "./resources.ts";

/** Those of the installation come first, then those of the resources, in their order. */
export function housekeepingSteps(core: Core, engine: Pick<Engine, "eraseUser">): Step[] {
  const { config, logger, nowMs, telemetry, db } = core;
  const partitions = async (): Promise<void> => {
    const tables = await maintainPartitions(db.unscoped);
    if (tables.length > 0) logger.warn({ tables }, "expired partitions are in use, dropped with the next housekeeping");
    await indexPartitions(db.unscoped);
  };
  const releases = async (): Promise<void> => {
    const turns = await listTurns(db.unscoped);
    const retired = await retireOldReleases({ admin: createEngineAdmin(config.adminUrls), turns, nowMs: nowMs() });
    if (retired.length > 0) logger.info({ retired }, "addresses of earlier releases retired");
  };
  const deps = depsOf(core);
  const countPurged = telemetry.countPurgedRows(purgedTables);
  return [
    { name: "partitions", run: partitions },
    { name: "releases", run: releases },
    ...createHousekeeping({
      ...deps,
      engine,
      revokeAtProvider: createRevokeAtProvider(deps),
      clearMemory: createClearLeftMemory(deps),
      onPurged: (table, rows) => {
        // A newer schema may purge tables that this release does not know.
        if (purgedTables.includes(table)) countPurged(table, rows);
      },
    }),
  ];
}

/** The hourly work, done once in a cell. */
export function composeHousekeeping(core: Core, engine: Pick<Engine, "eraseUser">) {
  const { nowMs, telemetry } = core;
  const steps = telemetry.timeHousekeeping(housekeepingSteps(core, engine));
  return housekeepingService({ now: async () => nowMs(), steps });
}
