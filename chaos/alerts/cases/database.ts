import { withClient } from "../../../scripts/testbed/scratch-database.ts";
import { type AlertCase, repeat } from "../alert-case.ts";
import { endBlockingSessions, lockTable } from "../database-locks.ts";

/** A PostgreSQL that answers, and in which somebody did what they should not. */
export const databaseCases: readonly AlertCase[] = [
  {
    fault: "a session holds a lock on a table that requests read",
    fires: {
      PerchDatabasePoolExhausted: "If so, end it: `select pg_terminate_backend(PID);`",
      PerchShareRefusals:
        "If the share is `database_transactions` and `PerchDatabasePoolExhausted` fires, follow that.",
    },
    cause: async (installation) => {
      await lockTable(installation, "agents");
      const end = repeat(50, () => installation.tenant.call("GET", "agents"));
      return { repair: () => endBlockingSessions(installation, "PerchDatabasePoolExhausted"), end };
    },
  },
  {
    fault: "somebody adds a constraint that refuses messages of sessions",
    fires: { PerchRunServerErrors: "Remove what was added to Perch's tables by hand" },
    cause: async ({ postgres, tenant }) => {
      const alter = (change: string) =>
        withClient(postgres.adminUrl, (client) => client.query(`alter table session_messages ${change}`));
      await tenant.post("agents", { name: "refused", model: "perch/echo" });
      await alter("add constraint refused check (content not like '%refuse me%') not valid");
      let sessions = 0;
      const input = () => ({ message: "refuse me", context: { session_id: `session-${++sessions}` } });
      const end = repeat(300, () => tenant.start("refused", input()));
      return { repair: () => alter("drop constraint refused"), end };
    },
  },
  {
    // The only threshold that is a time and cannot be shortened.
    fault: "a session holds a lock on the table of signing keys for five minutes",
    fires: { PerchSigningKeysStale: "look for a session that holds a lock on the table, and end it" },
    maxSeconds: 400,
    cause: async (installation) => {
      await lockTable(installation, "signing_keys");
      return { repair: () => endBlockingSessions(installation, "PerchSigningKeysStale") };
    },
  },
];
