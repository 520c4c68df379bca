import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { run } from "@perch/testkit/services/commands.ts";
import { binDir, isPostgresInstalled, runInPostgresRoot } from "@perch/testkit/services/postgres.ts";

/** Runs pg_dump of the version that `pnpm services up` installs, or the machine's own for another server. */
const runPgDump = (args: readonly string[]): Promise<string> =>
  isPostgresInstalled() && process.getuid?.() === 0
    ? runInPostgresRoot(`${binDir}/pg_dump`, args)
    : run("pg_dump", args);

const contentSql = `
  select 'migration ' || name as line from kysely_migration
  union all select 'function ' || name || ' ' || checksum from schema_functions
  union all select 'release ' || release from schema_release
  union all select 'turn ' || turn || ' of ' || release from releases
  order by 1`;

/** The schema of a database with its rights and partitions, and which migrations, functions, release and turns it has. */
export async function dumpSchema(adminUrl: string): Promise<string[]> {
  const dump = await runPgDump(["--schema-only", `--dbname=${adminUrl}`]);
  const { rows } = await withClient(adminUrl, (client) => client.query<{ line: string }>(contentSql));
  // Newer versions of pg_dump put a random word at the start and the end.
  const lines = dump.split("\n").filter((line) => !/^\\(un)?restrict /.test(line));
  return [...lines, ...rows.map(({ line }) => line)];
}
