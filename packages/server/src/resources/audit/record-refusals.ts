import type { OperationKey } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import { type ApiError, isRefusal } from "../../platform/api-error.ts";
import type { Logger } from "../../platform/logger.ts";
import { type AuditedRequest, isAudited, toNewEntry } from "./audit-entry.ts";
import { insertAuditEntry } from "./audit-queries.ts";

/**
 * Why a refusal has no entry.
 * - busy: as many entries of its organisation were being written as may be.
 * - failed: the database did not take the entry.
 * - unauthenticated: it belongs to no organisation.
 */
export type DroppedRefusal = "busy" | "failed" | "unauthenticated";

interface RefusalDeps {
  readonly db: Pick<Database, "inOrganisation">;
  readonly logger: Logger;
  readonly onDropped: (reason: DroppedRefusal) => void;
}

/** Each refusal of a change becomes an entry of the audit log, or is counted. */
export interface RefusalRecords {
  /** Records that a caller whose key is known was refused, in the background. */
  readonly record: (request: AuditedRequest, refusal: unknown) => void;
  /** Counts the refusal of a caller whose organisation is not known. */
  readonly count: (key: OperationKey, refusal: unknown) => void;
  readonly stop: () => Promise<void>;
}

/** Above this, an organisation's refusals are not recorded, so that they cannot be used to overload the database. */
const maxConcurrentWrites = 4;

/**
 * Whether a caller was refused a change for lack of permission. Other refusals, such as by a rate limit, are not
 * recorded.
 */
const isRefusedChange = (key: OperationKey, refusal: unknown): refusal is ApiError =>
  isRefusal(refusal) && isAudited(key);

export function createRefusalRecords({ db, logger, onDropped }: RefusalDeps): RefusalRecords {
  const inFlight = new Map<Promise<void>, string>();
  const countInFlight = (id: string): number => [...inFlight.values()].filter((each) => each === id).length;
  return {
    record: (request, refusal) => {
      if (!isRefusedChange(request.key, refusal)) return;
      const { id } = request.caller.organisation;
      if (countInFlight(id) >= maxConcurrentWrites) {
        onDropped("busy");
        return logger.warn(
          { correlationId: request.correlationId },
          "audit entry for refusal skipped, too many in flight",
        );
      }
      const entry = toNewEntry(request, undefined, { outcome: "refused", reason: refusal.code });
      const write: Promise<void> = db
        .inOrganisation(id, (trx) => insertAuditEntry(trx, id, entry))
        .catch((error: unknown) => {
          onDropped("failed");
          logger.warn({ err: error, correlationId: request.correlationId }, "audit entry for refusal not written");
        })
        .finally(() => void inFlight.delete(write));
      inFlight.set(write, id);
    },
    count: (key, refusal) => {
      if (isRefusedChange(key, refusal)) onDropped("unauthenticated");
    },
    stop: async () => void (await Promise.all(inFlight.keys())),
  };
}
