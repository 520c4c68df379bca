import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import {
  createDatabaseSql,
  databaseRightsSql,
  trustedExtensionSql,
  vectorSql,
} from "../../../server/src/db/preparation-sql.ts";

const envFile = join(import.meta.dirname, "../../../../.services/env");

export interface ScratchDatabase {
  readonly appUrl: string;
  readonly ownerUrl: string;
  readonly adminUrl: string;
  readonly drop: () => Promise<void>;
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/** The address of a service, from the environment or from the file that `pnpm services up` wrote. */
export function serviceUrl(name: string): string {
  if (!process.env[name] && existsSync(envFile)) process.loadEnvFile(envFile);
  const url = process.env[name];
  if (!url) throw new Error(`${name} is not set. Start the services first: pnpm services up`);
  return url;
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  // A server that goes away between two statements makes the next one fail, but not the process.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Creates a database beside the development one, so that tests and benchmarks do not change its data. */
export async function createScratchDatabase(template?: string): Promise<ScratchDatabase> {
  const name = `perch_scratch_${randomBytes(6).toString("hex")}`;
  const admin = serviceUrl("PERCH_DATABASE_ADMIN_URL");
  const owner = serviceUrl("PERCH_MIGRATION_DATABASE_URL");
  const ownerName = new URL(owner).username;
  await withClient(admin, async (client) => {
    const createSql = createDatabaseSql(name, ownerName, template && new URL(template).pathname.slice(1));
    // Half the processor time of the default strategy, which writes the copy into the log too.
    await client.query(`${createSql} strategy file_copy`);
    for (const statement of databaseRightsSql(name, ownerName)) await client.query(statement);
  });
  if (!template)
    await withClient(withDatabase(admin, name), (client) => client.query(`${trustedExtensionSql} ${vectorSql}`));
  return {
    appUrl: withDatabase(serviceUrl("PERCH_DATABASE_URL"), name),
    ownerUrl: withDatabase(owner, name),
    adminUrl: withDatabase(admin, name),
    drop: async () => {
      await withClient(admin, (client) => client.query(`drop database if exists ${name} with (force)`));
    },
  };
}
