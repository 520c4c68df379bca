import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { type AlertCase, repeat } from "../alert-case.ts";
import { endBlockingSessionOfTick, endBlockingSessions, lockTable } from "../database-locks.ts";

/** Faults inside a PostgreSQL that still answers, such as a forgotten lock or a wrong constraint. */
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
    fault: "an operator adds a constraint that refuses messages of sessions",
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
    // The threshold is a time that cannot be shortened. The erasure is really stuck; only its row pretends that it
    // began hours ago.
    fault: "a session holds a lock on a table that an erasure needs, and the erasure is made three hours old by SQL",
    fires: { PerchErasureStuck: "Find the session that holds it" },
    cause: async (installation) => {
      const { postgres, tenant } = installation;
      await tenant.post("agents", { name: "remembering", model: "perch/echo" });
      await lockTable(installation, "memories");
      const status = await tenant.call("DELETE", "users/customer-1042/data");
      if (status !== 202) throw new Error(`DELETE /v1/users/customer-1042/data answers ${status}`);
      await withClient(postgres.adminUrl, (client) =>
        client.query("update erasures set created_at = now() - interval '3 hours' where completed_at is null"),
      );
      return { repair: () => endBlockingSessionOfTick(installation) };
    },
  },
  {
    // The other threshold that is a time. A process's memory has that time, so this takes as long as it takes.
    fault: "a session holds a lock on the table of signing keys for five minutes",
    fires: { PerchSigningKeysStale: "look for a session that holds a lock on the table, and end it" },
    maxSeconds: 400,
    cause: async (installation) => {
      await lockTable(installation, "signing_keys");
      return { repair: () => endBlockingSessions(installation, "PerchSigningKeysStale") };
    },
  },
];
