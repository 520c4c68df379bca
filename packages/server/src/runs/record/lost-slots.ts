import type { Database } from "../../db/database.ts";
import { isDatabaseUnavailable } from "../../db/refused-data.ts";
import type { EngineRuns } from "../../engine/engine-runs.ts";
import type { HeldSlots, RunSlots } from "../../limits/run-slots.ts";
import { runIdOfPart, suspensionsOfPart, uuidTime } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import type { ReconcileMetrics } from "../../telemetry/reconcile-metrics.ts";

export interface LostSlotsDeps {
  readonly db: Database;
  readonly engineRuns: Pick<EngineRuns, "listOpenParts">;
  readonly slots: Pick<RunSlots, "scan" | "free">;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly telemetry: Pick<ReconcileMetrics, "reconciled">;
  /** Slots of younger runs are skipped, because most of their runs have ended before the next look. */
  readonly minAgeSeconds: number;
}

/** The position at which the next tick continues. */
export interface SlotScan {
  readonly cursor: string;
  /** Parts of runs that neither the record nor the engine knew. If that is still so at the next look, they never began. */
  readonly suspects: readonly string[];
}

/** The limit of pages of Valkey's keys, few of which are slots. A tick reads up to 200,000 keys. */
const maxPages = 200;
const maxTickMs = 20_000;
const maxSuspects = 200;

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Unknown: the record does not have the run. Fast runs and turns that wait for their session have no record before they end. */
type PartState = "under_way" | "over" | "unknown";

/** A run that waits has ended the part before, and takes the slot of the next part just before that begins. */
export function stateOfPart(
  part: string,
  row: { readonly status: string; readonly cut: number } | undefined,
): PartState {
  if (!row) return "unknown";
  const isOpen = row.status === "running" || row.status === "waiting";
  return isOpen && row.cut <= suspensionsOfPart(part) ? "under_way" : "over";
}

/**
 * Frees slots of runs that have ended, and of runs that the engine never got: a process died, or Valkey came back with
 * older data. Goes through all slots a page at a time.
 */
export function createFreeLostSlots(deps: LostSlotsDeps): (after: SlotScan | null) => Promise<SlotScan | null> {
  const { db, engineRuns, slots, logger, nowMs: now, telemetry, minAgeSeconds } = deps;

  const isOld = (part: string): boolean => {
    const id = runIdOfPart(part);
    return uuid.test(id) && uuidTime(id).getTime() < now() - minAgeSeconds * 1000;
  };

  /** Empty for an organisation of another installation, which may share the Valkey. */
  const findStates = (organisationId: string, parts: readonly string[]): Promise<Map<string, PartState>> =>
    db.inOrganisation(organisationId, async (trx) => {
      const known = await trx
        .selectFrom("organisations")
        .select("id")
        .where("id", "=", organisationId)
        .executeTakeFirst();
      if (!known) return new Map();
      const ids = [...new Set(parts.map(runIdOfPart))];
      const rows = await trx
        .selectFrom("invocations")
        .select(["id", "status", "cut"])
        .where("organisation_id", "=", organisationId)
        .where("id", "in", ids)
        .where("accepted_at", "in", ids.map(uuidTime))
        .execute();
      const rowOf = new Map(rows.map((row) => [row.id, row]));
      return new Map(parts.map((part) => [part, stateOfPart(part, rowOf.get(runIdOfPart(part)))]));
    });

  /** An organisation whose share of the database is used up is left to the next tick, and does not delay the others. */
  const findStatesOrSkip = async (organisationId: string, parts: readonly string[]) => {
    try {
      return await findStates(organisationId, parts);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      logger.warn({ err: error, organisationId }, "slots not reconciled, the next tick tries again");
      return new Map<string, PartState>();
    }
  };

  const free = async (held: readonly HeldSlots[], over: ReadonlySet<string>): Promise<void> => {
    for (const each of held) {
      const parts = each.parts.filter((part) => over.has(part));
      if (parts.length > 0) await slots.free({ ...each, parts });
    }
    for (const part of over) {
      telemetry.reconciled("slot", "freed");
      logger.warn({ part }, "slot of a run that is not under way freed");
    }
  };

  /** Frees the ended parts on a page, and returns the parts that neither the record nor the engine knows. */
  const freePage = async (page: readonly HeldSlots[], suspects: ReadonlySet<string>): Promise<string[]> => {
    const states = new Map<string, PartState>();
    for (const [organisationId, held] of Map.groupBy(page, (each) => each.organisationId)) {
      const parts = [...new Set(held.flatMap((each) => each.parts))].filter(isOld);
      if (parts.length === 0) continue;
      for (const [part, state] of await findStatesOrSkip(organisationId, parts)) states.set(part, state);
    }
    const partsIn = (state: PartState) => [...states].flatMap(([part, own]) => (own === state ? [part] : []));
    const unknown = partsIn("unknown");
    const open = unknown.length === 0 ? new Set<string>() : await engineRuns.listOpenParts(unknown);
    const absent = unknown.filter((part) => !open.has(part));
    await free(page, new Set([...partsIn("over"), ...absent.filter((part) => suspects.has(part))]));
    return absent.filter((part) => !suspects.has(part));
  };

  return async (after) => {
    const startedAtMs = now();
    const before = new Set(after?.suspects);
    const found = new Set<string>();
    let cursor = after?.cursor ?? "0";
    for (let pages = 0; pages < maxPages && now() - startedAtMs < maxTickMs; pages++) {
      const page = await slots.scan(cursor);
      for (const part of await freePage(page.held, before)) found.add(part);
      cursor = page.cursor;
      if (cursor === "0") break;
    }
    // Suspects of an earlier look that this one has not reached are carried over, unless this look covers everything.
    const sawAll = (after?.cursor ?? "0") === "0" && cursor === "0";
    const suspects = [...(sawAll ? [] : before), ...found].slice(-maxSuspects);
    return cursor === "0" && suspects.length === 0 ? null : { cursor, suspects };
  };
}
