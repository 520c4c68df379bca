import type { AuditEntry, QueryOf } from "@perch/sdk";
import { resolveRange } from "../parts/time-range.ts";
import { cursorPages } from "./paged.ts";
import { perch } from "./perch.ts";

export interface AuditFilter {
  readonly operation: string | undefined;
  readonly resource: string | undefined;
  /** Id of a key. */
  readonly key: string | undefined;
  readonly outcome: AuditEntry["outcome"] | undefined;
  readonly range: string | undefined;
}

/** The audit log, newest first. It needs the permission `manage`. */
export const auditLogQuery = ({ key, range, ...filter }: AuditFilter) =>
  cursorPages(["audit-log", "list", key, range, filter], (page, signal) => {
    const { start, end } = resolveRange(range, new Date());
    const query = {
      ...filter,
      ...page,
      key_id: key as QueryOf<"GET /v1/audit-log">["key_id"],
      start_time: start.toISOString(),
      end_time: end?.toISOString(),
    };
    return perch.auditLog.list(query, { signal }).page();
  });
