import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect as connectSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DevDatabase, openDatabase } from "../src/dev/database.ts";
import { parseMessageGroup, parseStartupMessage } from "../src/dev/wire-messages.ts";

let folder: string;
let database: DevDatabase;
const clients: pg.Client[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "perch-bridge-"));
  database = await openDatabase(join(folder, "database"), 0);
  const owner = await connect("ownerUrl");
  await owner.query("create table notes (id int primary key, text text)");
  await owner.query("grant select, insert on notes to perch_app");
});

afterAll(async () => {
  for (const client of clients) await client.end().catch(() => {});
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

async function connect(as: "ownerUrl" | "serverUrl"): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database[as] });
  client.on("error", () => {});
  await client.connect();
  clients.push(client);
  return client;
}

const count = async (client: pg.Client) =>
  (await client.query<{ n: number }>("select count(*)::int as n from notes")).rows[0]?.n;

describe("the database of perch dev, over its port", () => {
  test("a client has only the role that it asked for", async () => {
    const [owner, server] = [await connect("ownerUrl"), await connect("serverUrl")];
    for (const [client, name] of [
      [owner, "perch_owner"],
      [server, "perch_server"],
      [owner, "perch_owner"],
    ] as const) {
      const { rows } = await client.query(
        "select current_user, session_user, rolsuper from pg_roles where rolname = current_user",
      );
      expect(rows).toEqual([{ current_user: name, session_user: name, rolsuper: false }]);
    }
    await expect(server.query("drop table notes")).rejects.toThrow("must be owner");
  });

  test("a transaction belongs to its client: others wait for its end", async () => {
    const [a, b] = [await connect("serverUrl"), await connect("serverUrl")];
    await a.query("begin");
    await a.query("insert into notes values (1, 'one')");
    let seen: number | undefined;
    const waiting = count(b).then((n) => {
      seen = n;
    });
    await a.query("select $1::text", ["between"]);
    expect(seen).toBeUndefined();
    await a.query("commit");
    await waiting;
    expect(seen).toBe(1);
  });

  test("queries of many clients at once, with parameters, each get their own answer", async () => {
    const several = await Promise.all([1, 2, 3, 4].map(() => connect("serverUrl")));
    const answers = several.map(async (client, i) => {
      const found: (string | undefined)[] = [];
      for (const j of [0, 1, 2, 3, 4]) {
        const { rows } = await client.query<{ v: string }>("select $1::text || $2::text as v", [i, j]);
        found.push(rows[0]?.v);
      }
      return found.join() === [0, 1, 2, 3, 4].map((j) => `${i}${j}`).join();
    });
    expect((await Promise.all(answers)).every(Boolean)).toBe(true);
  });

  test("an error ends only its query, also in the middle of a transaction", async () => {
    const client = await connect("serverUrl");
    await expect(client.query("select nonsense from $1", [1])).rejects.toThrow();
    await expect(client.query("insert into notes values ($1, $2)", [1, "again"])).rejects.toThrow("duplicate");
    await client.query("begin");
    await expect(client.query("select 1/$1::int", [0])).rejects.toThrow("division by zero");
    await client.query("rollback");
    expect(await count(client)).toBe(1);
  });

  test("a client that disconnects in a transaction is rolled back, and others go on", async () => {
    const [leaver, other] = [await connect("serverUrl"), await connect("serverUrl")];
    await leaver.query("begin");
    await leaver.query("insert into notes values (2, 'two')");
    (leaver as unknown as { connection: { stream: { destroy: () => void } } }).connection.stream.destroy();
    expect(await count(other)).toBe(1);
  });

  test("a large value goes through whole", async () => {
    const client = await connect("serverUrl");
    const large = "ä".repeat(1_500_000);
    const { rows } = await client.query<{ v: string }>("select $1::text as v", [large]);
    expect(rows[0]?.v === large).toBe(true);
  });

  test("a role that it does not know is refused", async () => {
    const stranger = new pg.Client({ connectionString: database.serverUrl.replace("perch_server", "postgres") });
    stranger.on("error", () => {});
    await stranger.connect();
    await expect(stranger.query("select 1")).rejects.toThrow();
  });
});

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const wrongLengths = [-2_147_483_648, -1000, -1, 0, 3, 0x7f_ff_ff_ff];

describe("a message that states a length that cannot be", () => {
  test.each(wrongLengths)("is refused: %d bytes", (length) => {
    const sslRequest = Buffer.concat([int32(length), int32(80_877_103)]);
    expect(() => parseStartupMessage(sslRequest)).toThrow(`A message of ${length} bytes is refused`);
    const query = Buffer.concat([Buffer.from("Q"), int32(length), Buffer.from("select 1\0")]);
    expect(() => parseMessageGroup(query)).toThrow(`A message of ${length} bytes is refused`);
  });

  const startup = Buffer.from("user\0perch_server\0\0");
  test.each([
    ["at the start", int32(-1)],
    ["of a query", Buffer.concat([int32(8 + startup.length), int32(196_608), startup, Buffer.from("Q"), int32(-1)])],
    ["of a parse", Buffer.concat([int32(8 + startup.length), int32(196_608), startup, Buffer.from("P"), int32(-1)])],
  ])("ends its connection with an error %s, and others go on", async (_, bytes) => {
    const { port } = new URL(database.serverUrl);
    const socket = connectSocket(Number(port), "127.0.0.1");
    await once(socket, "connect");
    socket.write(bytes);
    expect((await buffer(socket)).toString("latin1")).toContain("C08P01\0MA message of -1 bytes is refused");
    expect(await count(await connect("serverUrl"))).toBe(1);
  });
});
