import type { AuditOperationKey } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import { invalid } from "../../platform/api-error.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { page } from "../envelopes.ts";
import type { Handlers } from "../handlers.ts";
import { countAuditEntries, listAuditEntries } from "./audit-queries.ts";
import { decodeCursor, encodeCursor } from "./audit-rules.ts";
import { toAuditEntry } from "./to-audit-entry.ts";

const maxCounted = 10_000;

const timeOf = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text));

export const auditHandlers = ({ db }: { readonly db: Database }) =>
  ({
    "GET /v1/audit-log": async ({ query }, { scope }) => {
      const [from, until] = [timeOf(query.start_time), timeOf(query.end_time)];
      if (from && until && from >= until) throw invalid("start_time", "Must be before end_time");
      const before = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
      const { operation, resource, outcome } = query;
      const keyId = query.key_id && parsePublicId("key", query.key_id);
      const filter = { keyId, operation, resource, outcome, from, until };
      return db.inOrganisation(scope.organisationId, async (trx) => {
        // One more than requested, to know whether there is another page.
        const found = await listAuditEntries(trx, scope, filter, { ...query, limit: query.limit + 1, before });
        const rows = found.slice(0, query.limit);
        const last = found.length > rows.length ? rows.at(-1) : undefined;
        const total = await countAuditEntries(trx, scope, filter, maxCounted + 1);
        const { data, pagination } = page(rows.map(toAuditEntry), query, Math.min(total, maxCounted));
        return {
          data,
          pagination: {
            ...pagination,
            has_more: last !== undefined,
            total_relation: total > maxCounted ? ("gte" as const) : ("eq" as const),
            next_cursor: last ? encodeCursor(last) : null,
          },
        };
      });
    },
  }) satisfies Handlers<AuditOperationKey>;
