import { randomBytes } from "node:crypto";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import type { Trial } from "./trial.ts";

export interface PreparedDatabase {
  /** For `migrate`. */
  readonly ownerUrl: string;
  /** For the server, which owns nothing. */
  readonly serverUrl: string;
}

function settingIn(output: string, name: string): string {
  const value = new RegExp(`^${name}=(.+)$`, "m").exec(output)?.[1];
  if (value === undefined) throw new Error(`prepare-database printed no ${name}:\n${output}`);
  return value;
}

/** What docs/operations asks for before `perch-server migrate`, from nothing but a superuser. */
export async function prepareDatabase(trial: Trial, folder: string): Promise<PreparedDatabase> {
  const adminUrl = serviceUrl("PERCH_DATABASE_ADMIN_URL");
  const database = `perch_trial_${randomBytes(6).toString("hex")}`;
  const [owner, server] = [`${database}_owner`, `${database}_server`];
  trial.onEnd(() =>
    withClient(adminUrl, async (client) => {
      await client.query(`drop database if exists ${database} with (force)`);
      for (const role of [server, owner]) await client.query(`drop role if exists ${role}`);
    }),
  );
  const names = ["--database", database, "--owner", owner, "--server", server];
  const command = ["perch-server", "prepare-database", "--run", "--url", adminUrl, ...names];
  const output = await trial.run(command, { cwd: folder });
  return {
    ownerUrl: settingIn(output, "PERCH_MIGRATION_DATABASE_URL"),
    serverUrl: settingIn(output, "PERCH_DATABASE_URL"),
  };
}
