import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import type pg from "pg";
import { housekeepingSteps } from "../../src/compose/compose-housekeeping.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import type { Perch } from "./harness.ts";

export const uuidOf = (prefix: "agent" | "consoleSession" | "key" | "organisation", id: string): string =>
  parsePublicId(prefix, id) ?? "";

/** Runs steps of housekeeping on the database of this Perch, and shows their effects. */
export function createPurgeTestbed(perch: Pick<Perch, "server" | "database">) {
  const steps = housekeepingSteps(perch.server.core, { eraseUser: async () => undefined });
  /**
   * Runs as a superuser, to whom policies and triggers do not apply, because only a superuser can set a time in the
   * past.
   */
  const asSuperuser = <T>(work: (client: pg.Client) => Promise<T>): Promise<T> =>
    withClient(perch.database.adminUrl, async (client) => {
      await client.query("set session_replication_role = replica");
      return work(client);
    });
  const query = async <T extends object = Record<string, unknown>>(
    statement: string,
    values: unknown[] = [],
  ): Promise<T[]> => asSuperuser(async (client) => (await client.query<T>(statement, values)).rows);
  return {
    query,
    runStep: async (name: string): Promise<void> => {
      const step = steps.find((each) => each.name === name);
      if (!step) throw new Error(`there is no step ${name}`);
      await step.run();
    },
    countRows: async (table: string, condition: string, values: unknown[] = []): Promise<number> =>
      (await query<{ n: number }>(`select count(*)::int as n from ${table} where ${condition}`, values))[0]?.n ?? 0,
    /** The value of `perch_purged_rows_total`. */
    countPurged: async (): Promise<Record<string, number>> => {
      const { text } = await perch.server.core.telemetry.read();
      const series = text.matchAll(/^perch_purged_rows_total\{table="(\w+)"\} (\d+)$/gm);
      return Object.fromEntries([...series].map(([, table = "", rows]) => [table, Number(rows)]));
    },
  };
}

export type PurgeTestbed = ReturnType<typeof createPurgeTestbed>;
