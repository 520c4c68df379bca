import { OperatorError } from "../platform/operator-error.ts";

const minVersion = 17;

/** `found` is PostgreSQL's `server_version_num`: 170004 is 17.4. */
export function refuseOldServer(found: number): void {
  if (found >= minVersion * 10_000) return;
  throw new OperatorError(
    `PostgreSQL ${Math.floor(found / 10_000)} is too old: Perch needs PostgreSQL ${minVersion}. Upgrade it, or use another server.`,
  );
}

export const serverVersionSql = "select current_setting('server_version_num')::int as version";
