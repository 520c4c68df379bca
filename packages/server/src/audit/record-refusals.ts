import type { Database } from "../db/database.ts";
import { ApiError } from "../platform/api-error.ts";
import type { Logger } from "../platform/logger.ts";
import { insertAudit } from "./audit-queries.ts";
import { type AuditedRequest, entryOf, isAudited } from "./record-request.ts";

interface RefusalDeps {
  readonly db: Database;
  readonly logger: Logger;
}

export interface RefusalRecords {
  /** Notes that a known caller was not let. Nobody waits for it. */
  readonly note: (request: AuditedRequest, refusal: unknown) => void;
  readonly stop: () => Promise<void>;
}

/** More at once are not written: refusals must not become a way to keep the database busy. */
const mostAtOnce = 4;

export function createRefusalRecords({ db, logger }: RefusalDeps): RefusalRecords {
  const underWay = new Set<Promise<void>>();
  return {
    note: (request, refusal) => {
      if (!(refusal instanceof ApiError) || (refusal.code !== "forbidden" && refusal.code !== "unauthorized")) return;
      if (!isAudited(request.key)) return;
      if (underWay.size >= mostAtOnce)
        return logger.warn({ requestId: request.requestId }, "a refusal was left out of the audit log");
      const { id } = request.caller.organisation;
      const entry = entryOf(request, undefined, { outcome: "refused", reason: refusal.code });
      const writing: Promise<void> = db
        .inOrganisation(id, (trx) => insertAudit(trx, id, entry))
        .catch((error: unknown) => logger.warn({ err: error }, "a refusal could not be written to the audit log"))
        .finally(() => void underWay.delete(writing));
      underWay.add(writing);
    },
    stop: async () => void (await Promise.all(underWay)),
  };
}
