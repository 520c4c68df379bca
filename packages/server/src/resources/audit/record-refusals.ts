import type { Database } from "../../db/database.ts";
import { ApiError } from "../../platform/api-error.ts";
import type { Logger } from "../../platform/logger.ts";
import { type AuditedRequest, isAudited, toNewEntry } from "./audit-entry.ts";
import { insertAuditEntry } from "./audit-queries.ts";

interface RefusalDeps {
  readonly db: Database;
  readonly logger: Logger;
}

export interface RefusalRecords {
  /** Records that an authenticated caller was refused, in the background. */
  readonly record: (request: AuditedRequest, refusal: unknown) => void;
  readonly stop: () => Promise<void>;
}

/** Above this, an organisation's refusals are not recorded, so that they cannot be used to overload the database. */
const maxConcurrentWrites = 4;

export function createRefusalRecords({ db, logger }: RefusalDeps): RefusalRecords {
  const inFlight = new Map<Promise<void>, string>();
  const countInFlight = (id: string): number => [...inFlight.values()].filter((each) => each === id).length;
  return {
    record: (request, refusal) => {
      if (!(refusal instanceof ApiError) || (refusal.code !== "forbidden" && refusal.code !== "unauthorized")) return;
      if (!isAudited(request.key)) return;
      const { id } = request.caller.organisation;
      if (countInFlight(id) >= maxConcurrentWrites)
        return logger.warn({ requestId: request.requestId }, "audit entry for refusal skipped, too many in flight");
      const entry = toNewEntry(request, undefined, { outcome: "refused", reason: refusal.code });
      const write: Promise<void> = db
        .inOrganisation(id, (trx) => insertAuditEntry(trx, id, entry))
        .catch((error: unknown) =>
          logger.warn({ err: error, requestId: request.requestId }, "audit entry for refusal not written"),
        )
        .finally(() => void inFlight.delete(write));
      inFlight.set(write, id);
    },
    stop: async () => void (await Promise.all(inFlight.keys())),
  };
}
