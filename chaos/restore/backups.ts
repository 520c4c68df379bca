import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type DurablePostgres, startDurablePostgres } from "@perch/testkit/installation/durable-postgres.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { run } from "@perch/testkit/services/commands.ts";
import { binDir, postgresRoot, runInPostgresRoot } from "@perch/testkit/services/postgres.ts";

/** The commands of docs/operations/backup.md, word by word. They find the server by PGHOST and its like. */
export const commands = {
  dump: [
    "pg_dumpall --globals-only --file=/backup/globals.sql",
    "pg_dump --format=custom --file=/backup/perch.dump perch",
  ],
  restoreDump: [
    "psql --file=/backup/globals.sql postgres",
    "createdb --owner=perch_owner perch",
    "pg_restore --exit-on-error --dbname=perch /backup/perch.dump",
  ],
  archiveCommand: "test ! -f /backup/wal/%f && cp %p /backup/wal/%f",
  baseBackup: ["pg_basebackup --checkpoint=fast --pgdata=/backup/base"],
  restoreBase: [
    "cp --archive /backup/base/. $PGDATA",
    `echo "restore_command = 'cp /backup/wal/%f %p'" >> $PGDATA/postgresql.auto.conf`,
    `echo "recovery_target_time = '$RESTORE_TO'" >> $PGDATA/postgresql.auto.conf`,
    `echo "recovery_target_action = promote" >> $PGDATA/postgresql.auto.conf`,
    "touch $PGDATA/recovery.signal",
  ],
} as const;

export interface BackedUpPostgres extends DurablePostgres {
  readonly takeDump: () => Promise<void>;
  readonly restoreDump: () => Promise<void>;
  readonly takeBaseBackup: () => Promise<void>;
  /**
   * Archives the current segment of the log, so that everything written until now can be restored. Returns the time.
   */
  readonly archiveLog: () => Promise<string>;
  readonly restoreBase: (toTime: string) => Promise<void>;
}

/** A PostgreSQL of its own, whose log is archived, with its backups beside it. */
export async function startBackedUpPostgres(): Promise<BackedUpPostgres> {
  const folder = `/restore-drill-${process.pid}`;
  const inFolder = (command: string): string => command.replaceAll("/backup", folder);
  await run("chroot", [postgresRoot, "install", "-d", "-o", "postgres", "-g", "postgres", folder, `${folder}/wal`]);
  const postgres = await startDurablePostgres({
    extraSettings: { archive_mode: "on", archive_command: inFolder(commands.archiveCommand) },
  });
  const url = new URL(postgres.urlOf("postgres"));
  const variables = {
    PGHOST: url.hostname,
    PGPORT: url.port,
    PGUSER: url.username,
    PGPASSWORD: url.password,
    PGDATA: postgres.dataFolder,
    PATH: `${binDir}:/usr/bin:/bin`,
  };
  const settings = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const execute = async (list: readonly string[], ...more: readonly string[]): Promise<void> => {
    for (const command of list)
      await runInPostgresRoot("/usr/bin/env", [
        ...settings,
        ...more,
        "sh",
        "-ec",
        `cd ${folder}; ${inFolder(command)}`,
      ]);
  };

  const archiveLog = () =>
    withClient(postgres.urlOf("postgres"), async (client) => {
      const { rows: times } = await client.query<{ time: string }>("select clock_timestamp()::text as time");
      // Recovery stops at the first commit after the time.
      await client.query("select pg_current_xact_id()");
      const { rows } = await client.query<{ name: string }>("select pg_walfile_name(pg_switch_wal()) as name");
      const isArchived = "select last_archived_wal >= $1 as done from pg_stat_archiver";
      for (let attempt = 0; attempt < 300; attempt++) {
        const { rows: found } = await client.query<{ done: boolean | null }>(isArchived, [rows[0]?.name]);
        if (found[0]?.done) return times[0]?.time ?? "";
        await sleep(100);
      }
      throw new Error("PostgreSQL does not archive its log");
    });

  return {
    ...postgres,
    drop: async () => {
      await postgres.drop();
      rmSync(join(postgresRoot, folder), { recursive: true, force: true });
    },
    takeDump: () => execute(commands.dump),
    restoreDump: async () => {
      await postgres.initialise();
      await postgres.start();
      await execute(commands.restoreDump);
    },
    takeBaseBackup: async () => {
      rmSync(join(postgresRoot, folder, "base"), { recursive: true, force: true });
      await execute(commands.baseBackup);
    },
    archiveLog,
    restoreBase: async (toTime) => {
      await run("chroot", [
        ...[postgresRoot, "install", "-d", "-m", "700", "-o", "postgres", "-g", "postgres", postgres.dataFolder],
      ]);
      await execute(commands.restoreBase, `RESTORE_TO=${toTime}`);
      await postgres.start();
      const isRecovering = () =>
        withClient(
          postgres.urlOf("postgres"),
          async (client) =>
            (await client.query<{ pg_is_in_recovery: boolean }>("select pg_is_in_recovery()")).rows[0]
              ?.pg_is_in_recovery,
        );
      while (await isRecovering()) await sleep(100);
    },
  };
}
