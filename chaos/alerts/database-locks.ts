import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { readRunbook } from "@perch/testkit/runbook.ts";
import { waitUntil } from "@perch/testkit/services/commands.ts";
import pg from "pg";
import type { Installation } from "./installation.ts";

/** Locks a table, as a forgotten session does, until that session is ended. */
export async function lockTable({ postgres }: Installation, table: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.adminUrl });
  // It is ended from outside.
  client.on("error", () => undefined);
  await client.connect();
  await client.query("begin");
  await client.query(`lock table ${table} in access exclusive mode`);
}

/** Ends the sessions that the statement in the runbook of this alert finds. */
export async function endBlockingSessions({ postgres }: Installation, name: string): Promise<void> {
  const entry = readRunbook().find(({ alert }) => alert === name);
  await withClient(postgres.adminUrl, async (client) => {
    const { rows } = await client.query<{ pid: number }>(entry?.sql[0] ?? "");
    if (rows.length === 0) throw new Error(`The statement in the runbook of ${name} finds no session`);
    for (const { pid } of rows) await client.query("select pg_terminate_backend($1)", [pid]);
  });
}

/** A step that is stuck waits for the lock most of the time, and a little while for its next attempt. */
const maxSecondsBetweenAttempts = 60;

/** The same for background work, which waits for the lock only during its attempts. */
export async function endBlockingSessionOfTick(installation: Installation): Promise<void> {
  const endSession = () =>
    endBlockingSessions(installation, "PerchDatabasePoolExhausted").then(
      () => true,
      () => false,
    );
  if (!(await waitUntil(endSession, maxSecondsBetweenAttempts)))
    throw new Error(`Nothing has waited for the lock for ${maxSecondsBetweenAttempts} s`);
}
