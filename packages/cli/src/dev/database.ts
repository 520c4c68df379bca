import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { btree_gin } from "@electric-sql/pglite/contrib/btree_gin";
import { vector } from "@electric-sql/pglite-pgvector";
import { type Bridge, startBridge } from "./wire-bridge.ts";

/**
 * The roles that `perch-server prepare-database` makes, without passwords, and with rights in PGlite's one database, whose owner is
 * its superuser. As in production, the server does not run as the owner of the tables, and row-level security applies to both.
 */
const roles = `
do $$
begin
  if not exists (select from pg_roles where rolname = 'perch_owner') then
    create role perch_owner login createrole;
    create role perch_app nologin;
    create role perch_platform nologin;
    create role perch_recorder nologin;
    create role perch_server login;
    grant perch_app, perch_platform, perch_recorder to perch_owner with admin option;
    grant perch_app to perch_server;
    grant create on database postgres to perch_owner;
    grant create, usage on schema public to perch_owner with grant option;
  end if;
end
$$;
create extension if not exists vector;
`;

const known = new Set(["perch_owner", "perch_server"]);

export interface DevDatabase {
  readonly ownerUrl: string;
  readonly serverUrl: string;
  readonly close: () => Promise<void>;
}

const extensions = { vector, btree_gin };
/**
 * An empty database with our roles and tables, made when the package is built, because making one takes several
 * seconds. The server still migrates it at the first start, because at least the partitions have changed since. A
 * checkout has none.
 */
const template = join(import.meta.dirname, "../database.tar.gz");

/** `migrate` makes the tables. The files are dumped after a clean end, so that they need no recovery. */
export async function makeTemplate(migrate: (ownerUrl: string) => Promise<unknown>): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "perch-template-"));
  try {
    const dataDir = join(folder, "database");
    const { ownerUrl, close } = await openDatabase(dataDir, 0);
    await migrate(ownerUrl);
    await close();
    const db = await PGlite.create({ dataDir, extensions });
    const dump = await db.dumpDataDir("gzip");
    await db.close();
    return new Uint8Array(await dump.arrayBuffer());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openFiles(folder: string): Promise<PGlite> {
  const isNew = !existsSync(folder) && existsSync(template);
  const loadDataDir = isNew ? { loadDataDir: new Blob([await readFile(template)]) } : {};
  const db = await PGlite.create({ dataDir: folder, extensions, ...loadDataDir });
  if (!isNew) await db.exec(roles);
  return db;
}

/** PostgreSQL as WebAssembly inside this process, with its files in `folder`, on a port of loopback. */
export async function openDatabase(folder: string, port: number): Promise<DevDatabase> {
  const db = await openFiles(folder);
  let current = "";
  const bridge: Bridge = await startBridge(
    {
      execute: (message) => db.runExclusive(() => db.execProtocolRaw(message)),
      become: async (user) => {
        if (user === current) return;
        if (!known.has(user)) throw new Error(`There is no role ${user}`);
        await db.exec(`reset session authorization; set session authorization ${user}`);
        current = user;
      },
      rollBack: async () => void (await db.exec("rollback")),
    },
    port,
  );
  const url = (user: string) => `postgres://${user}@127.0.0.1:${bridge.port}/postgres`;
  return {
    ownerUrl: url("perch_owner"),
    serverUrl: url("perch_server"),
    close: async () => {
      await bridge.close();
      await db.close();
    },
  };
}
