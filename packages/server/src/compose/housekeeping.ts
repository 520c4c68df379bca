import { indexPartitions, maintainPartitions } from "../db/partitions.ts";
import { createPurge, purgedTables } from "../db/purge.ts";
import { listTurns } from "../db/releases.ts";
import type { Engine } from "../engine/engine.ts";
import { createEngineAdmin } from "../engine/engine-admin.ts";
import { retireOldReleases } from "../engine/retire-release.ts";
import { createFinishRevocations } from "../resources/connections/finish-revocations.ts";
import { createRevokeAtProvider } from "../resources/connections/revoke-at-provider.ts";
import { resumeErasures } from "../resources/erasures/resume-erasures.ts";
import { createClearLeftMemory } from "../resources/memory/clear-deleted-agent.ts";
import { finishOpenClears } from "../resources/memory/run-clear.ts";
import { type HousekeepingStep, housekeepingService } from "../workflows/housekeeping.ts";
import type { Core } from "./core.ts";

/** What needs no client of the engine. */
export function housekeepingSteps(core: Core): HousekeepingStep[] {
  const { config, logger, nowMs, telemetry, db, memory } = core;
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
  const onPurged = telemetry.countPurgedRows(purgedTables);
  const finishRevocations = createFinishRevocations({
    db,
    nowMs,
    revokeAtProvider: createRevokeAtProvider(core),
    onDeleted: (connections) => onPurged("connections", connections),
  });
  const purge = createPurge({
    db: db.unscoped,
    logger,
    nowMs,
    clearMemory: createClearLeftMemory({ db, runClear: memory.runClear }),
    onPurged,
  });
  return [
    { name: "partitions", run: partitions },
    { name: "clears", run: () => finishOpenClears(db, memory.runClear) },
    { name: "releases", run: releases },
    { name: "revoke_connections", run: finishRevocations.revocations },
    { name: "connections_of_deleted_agents", run: finishRevocations.ofDeletedAgents },
    { name: "purge_agents", run: purge.agents },
    { name: "purge_keys", run: purge.keys },
    { name: "purge_console_sessions", run: purge.consoleSessions },
    { name: "purge_clears", run: purge.clears },
    { name: "purge_approvals", run: purge.approvals },
    { name: "purge_connections", run: purge.connections },
    { name: "purge_releases", run: purge.releases },
  ];
}

/** What is done every hour, once in a cell, in this order. */
export function composeHousekeeping(core: Core, engine: Pick<Engine, "eraseUser">) {
  const { db, logger, nowMs, telemetry } = core;
  const erasures = { name: "erasures", run: () => resumeErasures({ db: db.unscoped, engine, logger }) };
  const steps = telemetry.timeHousekeeping([...housekeepingSteps(core), erasures]);
  return housekeepingService({ now: async () => nowMs(), steps });
}
