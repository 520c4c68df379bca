import { randomBytes, randomUUID } from "node:crypto";
import { agentDefaults } from "@perch/contract";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTestDatabase } from "../../../test/support/open-database.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import type { Database } from "../../db/database.ts";
import { maintainPartitions } from "../../db/partitions.ts";
import { createLogger } from "../../platform/logger.ts";
import { type AgentRow, insertAgent } from "../agents/agent-queries.ts";
import { createDefinitions, type NamedDefinition } from "./definitions.ts";
import { insertVersion } from "./version-queries.ts";
import { checksumOf, type Definition } from "./version-rules.ts";

const logger = createLogger("silent");
let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database.appUrl, 5, logger);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const asOwner = <T extends object>(statement: string, values: unknown[] = []) =>
  withClient(database.adminUrl, async (client) => (await client.query<T>(statement, values)).rows);
const { security, ...defaults } = agentDefaults;
const definitionWith = (instructions: string): Definition => ({ ...defaults, model: "perch/echo", instructions });

async function createAgent(instructions = "Be kind."): Promise<AgentRow> {
  const organisationId = randomUUID();
  await asOwner("insert into organisations (id, name, tier) values ($1, 'Test', 'free')", [organisationId]);
  const agent = { id: randomUUID(), name: "bot", definition: definitionWith(instructions), security };
  const row = await db.inOrganisation(organisationId, (trx) =>
    insertAgent(trx, { organisationId, onlyAgentId: null }, agent),
  );
  if (!row) throw new Error("no agent was created");
  return row;
}

/** The definitions of one process, how often it used the database, and its clock. */
function startProcess() {
  const state = { transactions: 0, nowMs: Date.now(), isDatabaseAway: false };
  const counted: Database = {
    ...db,
    inOrganisation: (organisationId, work) => {
      state.transactions++;
      if (state.isDatabaseAway) return Promise.reject(new Error("connection refused"));
      return db.inOrganisation(organisationId, work);
    },
  };
  return Object.assign(
    state,
    createDefinitions({ db: counted, cacheBytes: (_, bytes) => bytes, logger, now: () => state.nowMs }),
  );
}

const keyOf = (agent: AgentRow) => ({ organisationId: agent.organisation_id, agentId: agent.id });
const nameOf = (agent: AgentRow, { definitionDigest = "" }: NamedDefinition, version: string | null = null) => ({
  ...keyOf(agent),
  version,
  definitionDigest,
});
const monthStart = (offset: number): string => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1)).toISOString().slice(0, 10);
};
const savedMonths = async (agent: AgentRow): Promise<string[]> =>
  (
    await asOwner<{ month: string }>(
      "select month::text from draft_definitions where organisation_id = $1 order by month",
      [agent.organisation_id],
    )
  ).map(({ month }) => month);

describe("a draft", () => {
  test("is saved at its first use, and no later use in this process writes or reads anything", async () => {
    const agent = await createAgent();
    const api = startProcess();
    const first = await api.nameDraft(agent);
    expect(first).toEqual({ definition: agent.definition, definitionDigest: expect.stringMatching(/^[\w-]{43}$/) });
    expect(await savedMonths(agent)).toEqual([monthStart(0)]);
    expect(api.transactions).toBe(1);
    // A row that was read again is another object.
    for (const row of [agent, { ...agent }]) expect(await api.nameDraft(row)).toEqual(first);
    expect(await api.find(nameOf(agent, first))).toEqual(agent.definition);
    expect(api.transactions).toBe(1);
  });

  test("is read once by another process, also by many runs at once", async () => {
    const agent = await createAgent();
    const name = nameOf(agent, await startProcess().nameDraft(agent));
    const worker = startProcess();
    const found = await Promise.all(Array.from({ length: 10 }, () => worker.find(name)));
    expect(found).toEqual(Array.from({ length: 10 }, () => agent.definition));
    await worker.find(name);
    expect(worker.transactions).toBe(1);
  });

  test("that was changed has another name, and the earlier name still stands for the earlier draft", async () => {
    const agent = await createAgent("first");
    const api = startProcess();
    const first = await api.nameDraft(agent);
    const changed = { ...agent, definition: { ...definitionWith("second") } } as AgentRow;
    const second = await api.nameDraft(changed);
    expect(second.definitionDigest).not.toBe(first.definitionDigest);
    const worker = startProcess();
    expect(await worker.find(nameOf(agent, first))).toEqual(definitionWith("first"));
    expect(await worker.find(nameOf(agent, second))).toEqual(definitionWith("second"));
  });

  test("that cannot be saved gets no name, so that its run carries it; the next row is saved", async () => {
    const agent = await createAgent();
    const api = startProcess();
    api.isDatabaseAway = true;
    expect(await api.nameDraft(agent)).toEqual({ definition: agent.definition });
    api.isDatabaseAway = false;
    expect((await api.nameDraft({ ...agent })).definitionDigest).toBeDefined();
    expect(await savedMonths(agent)).toEqual([monthStart(0)]);
  });

  test("cannot be found by another organisation or for another agent", async () => {
    const [mine, theirs] = [await createAgent(), await createAgent()];
    const { definitionDigest } = await startProcess().nameDraft(theirs);
    const name = nameOf(theirs, { definition: definitionWith(""), definitionDigest: definitionDigest ?? "" });
    const worker = startProcess();
    // In this order, so that one process does not find the other's cached definition either.
    expect(await worker.find(name)).toEqual(theirs.definition);
    expect(await worker.find({ ...name, organisationId: mine.organisation_id })).toBeUndefined();
    expect(await worker.find({ ...name, agentId: mine.id })).toBeUndefined();
  });

  test("cannot be changed or deleted by the server's role", async () => {
    const agent = await createAgent();
    await startProcess().nameDraft(agent);
    for (const statement of ["update draft_definitions set definition = '{}'", "delete from draft_definitions"])
      await expect(withClient(database.appUrl, (client) => client.query(statement))).rejects.toThrow(
        /permission denied/,
      );
  });
});

describe("a version", () => {
  const createVersion = async (agent: AgentRow, label: string, definition: Definition) =>
    db.inOrganisation(agent.organisation_id, (trx) =>
      insertVersion(trx, keyOf(agent), { label, definition, checksum: checksumOf(definition), createdBy: agent.id }),
    );

  test("is found by its label in another process, and not saved a second time", async () => {
    const agent = await createAgent("draft");
    const row = await createVersion(agent, "v1", definitionWith("version"));
    const api = startProcess();
    const named = api.nameVersion(keyOf(agent), row);
    expect(await api.find(nameOf(agent, named, "v1"))).toEqual(definitionWith("version"));
    expect(api.transactions).toBe(0);
    const worker = startProcess();
    expect(await worker.find(nameOf(agent, named, "v1"))).toEqual(definitionWith("version"));
    expect(worker.transactions).toBe(1);
    expect(await savedMonths(agent)).toEqual([]);
  });

  test("is not found if its label stands for other content than the run named", async () => {
    const agent = await createAgent();
    await createVersion(agent, "v1", definitionWith("after a restore"));
    const definitionDigest = checksumOf(definitionWith("before")).toString("base64url");
    const name = { ...keyOf(agent), version: "v1", definitionDigest };
    expect(await startProcess().find(name)).toBeUndefined();
  });
});

describe("retention", () => {
  const addPartition = (offset: number) =>
    asOwner(
      `create table if not exists draft_definitions_${monthStart(offset).replaceAll("-", "")} partition of draft_definitions
         for values from ('${monthStart(offset)}') to ('${monthStart(offset + 1)}')`,
    );

  test("a draft in use is saved again each month; months that ended more than 31 days ago are dropped", async () => {
    for (const offset of [-4, -3, -2, -1]) await addPartition(offset);
    const [used, unused] = [await createAgent("used"), await createAgent("unused")];
    const api = startProcess();
    const names = new Map<AgentRow, NamedDefinition>();
    const useIn = async (agent: AgentRow, offset: number) => {
      api.nowMs = Date.parse(`${monthStart(offset)}T12:00:00Z`);
      names.set(agent, await api.nameDraft({ ...agent }));
    };
    for (const offset of [-4, -3, 0]) await useIn(used, offset);
    await useIn(unused, -3);
    await useIn(unused, -3);
    expect(await savedMonths(unused)).toEqual([monthStart(-3)]);
    expect(await savedMonths(used)).toEqual([-4, -3, 0].map(monthStart));
    await maintainPartitions(db.unscoped);
    expect(await savedMonths(unused)).toEqual([]);
    expect(await savedMonths(used)).toEqual([monthStart(0)]);
    const worker = startProcess();
    expect(await worker.find(nameOf(used, names.get(used) as NamedDefinition))).toEqual(used.definition);
  });

  test("last month's drafts are kept throughout this month, so for longer than the records of their runs", async () => {
    await addPartition(-1);
    const agent = await createAgent();
    const api = startProcess();
    api.nowMs = Date.parse(`${monthStart(0)}T00:00:00Z`) - 1;
    const named = await api.nameDraft(agent);
    await maintainPartitions(db.unscoped);
    expect(await startProcess().find(nameOf(agent, named))).toEqual(agent.definition);
    const [kept] = await asOwner<{ drafts: number; records: number }>(
      `select (select days from partitioned_tables where name = 'draft_definitions') as drafts,
              (select days from partitioned_tables where name = 'invocations') as records`,
    );
    expect(kept?.drafts).toBeGreaterThan(kept?.records ?? Number.POSITIVE_INFINITY);
  });
});

test("a process keeps at most 64 MiB of definitions, and reads the others again", async () => {
  const agent = await createAgent();
  const worker = startProcess();
  const definition = definitionWith("x".repeat(1024 * 1024)) as never;
  const nameLong = () => worker.nameVersion(keyOf(agent), { definition, checksum: randomBytes(32) });
  const names = Array.from({ length: 40 }, () => nameOf(agent, nameLong(), "v1"));
  expect(worker.transactions).toBe(0);
  for (const name of names.slice(-14)) expect(await worker.find(name)).toBeDefined();
  expect(worker.transactions).toBe(0);
  for (const name of names.slice(0, 3)) expect(await worker.find(name)).toBeUndefined();
  expect(worker.transactions).toBe(3);
});
