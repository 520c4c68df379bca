import { randomUUID } from "node:crypto";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { openTestDatabase } from "../../../test/support/open-database.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/test-database.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { Unchanged } from "../../platform/change-results.ts";
import { createLogger } from "../../platform/logger.ts";
import { createEngineTasks, type EngineTask, type EngineTasks } from "./engine-tasks.ts";

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database.appUrl, 5);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const query = (statement: string, values: unknown[] = []) =>
  withClient(database.adminUrl, async (client) => (await client.query(statement, values)).rows);
const listIds = async () => (await query("select id from engine_tasks order by created_at, id")).map(({ id }) => id);

const logger = createLogger("silent");
const logged = { warn: vi.spyOn(logger, "warn"), error: vi.spyOn(logger, "error") };
/** The tasks that the engine got, in order. */
let sent: string[] = [];
let isEngineUp = true;
const callEngine = async (id: string): Promise<void> => {
  if (!isEngineUp) throw new Error("The engine is down");
  sent.push(id);
};
const counted = vi.fn<(waiting: number) => void>();
const started: EngineTasks[] = [];

/** One process. Its sweeps are called by the test. */
function startProcess(): EngineTasks {
  const engine = {
    activate: ({ id }: { readonly id: string }) => callEngine(id),
    clearMemory: ({ id }: { readonly id: string }) => callEngine(id),
    embedMemory: () => callEngine("embedding"),
  };
  const tasks = createEngineTasks({
    db,
    engine,
    logger,
    now: () => Date.now(),
    onCounted: counted,
  });
  started.push(tasks);
  return tasks;
}
afterAll(() => Promise.all(started.map(({ finish }) => finish())));

beforeEach(async () => {
  isEngineUp = true;
  sent = [];
  vi.clearAllMocks();
  await query("delete from engine_tasks");
});

async function insertOrganisation(): Promise<string> {
  const id = randomUUID();
  await query("insert into organisations (id, name, tier) values ($1, 'Test', 'free')", [id]);
  return id;
}

const newTask = (organisationId: string): EngineTask => ({
  kind: "clear_memory",
  id: randomUUID(),
  organisationId,
  agentId: randomUUID(),
});

/** Tasks that were committed by a process which died before it sent them. */
const insertTasks = async (organisationId: string, count: number, age = "10 seconds", sendAfter = "now()") =>
  (
    await query(
      `insert into engine_tasks (id, organisation_id, kind, agent_id, created_at, send_after)
         select gen_random_uuid(), $1, 'embed_memory', gen_random_uuid(), now() - $3::interval, ${sendAfter}
           from generate_series(1, $2::int) returning id`,
      [organisationId, count, age],
    )
  ).map(({ id }) => id as string);

const addInTransaction = (tasks: EngineTasks, task: EngineTask) =>
  db.inOrganisation(task.organisationId, (trx) => tasks.add(trx, task));

const changeIn =
  (organisationId: string) =>
  <R>(work: (trx: OrganisationTransaction) => Promise<R | Unchanged<R>>): Promise<R> =>
    db.inOrganisation(organisationId, work) as Promise<R>;

describe("a task for the engine", () => {
  test("is sent once its change has committed, and then its row is deleted", async () => {
    const tasks = startProcess();
    const organisationId = await insertOrganisation();
    const task = newTask(organisationId);
    const inTransaction = await tasks.change(changeIn(organisationId), async (_trx, add) => {
      await add(task);
      return [...sent];
    });
    expect(inTransaction).toEqual([]);
    expect(sent).toEqual([task.id]);
    expect(await listIds()).toEqual([task.id]);
    await tasks.sweep();
    expect(await listIds()).toEqual([]);
    expect(sent).toEqual([task.id]);
  });

  test("is not sent and leaves no row if its change fails", async () => {
    const tasks = startProcess();
    const organisationId = await insertOrganisation();
    const failing = tasks.change(changeIn(organisationId), async (_trx, add) => {
      await add(newTask(organisationId));
      throw new Error("a rule forbids it");
    });
    await expect(failing).rejects.toThrow("a rule forbids it");
    expect([sent, await listIds()]).toEqual([[], []]);
  });

  test("of a process that died is sent by another one, after the time in which it could have been sent by its own", async () => {
    const tasks = startProcess();
    const task = newTask(await insertOrganisation());
    await addInTransaction(startProcess(), task);
    await tasks.sweep();
    expect(sent).toEqual([]);
    await query("update engine_tasks set created_at = now() - interval '6 seconds', send_after = now()");
    await tasks.sweep();
    expect(sent).toEqual([task.id]);
    expect(await listIds()).toEqual([]);
  });

  test("is sent by one of several processes that sweep at once", async () => {
    const ids = await insertTasks(await insertOrganisation(), 30);
    await query("update engine_tasks set kind = 'clear_memory'");
    await Promise.all([startProcess(), startProcess(), startProcess()].map(({ sweep }) => sweep()));
    expect(sent.toSorted()).toEqual(ids.toSorted());
  });

  test("that cannot be sent stays, is counted, and is tried again later, the longer it has waited", async () => {
    const tasks = startProcess();
    isEngineUp = false;
    const organisationId = await insertOrganisation();
    await insertTasks(organisationId, 1, "10 seconds");
    await insertTasks(organisationId, 1, "1 hour");
    await tasks.sweep();
    expect(counted).toHaveBeenLastCalledWith(2);
    expect(logged.warn).toHaveBeenCalledWith({ waiting: 2 }, "engine tasks are waiting to be sent");
    const rows = await query(
      "select round(extract(epoch from send_after - now()))::int as seconds from engine_tasks order by created_at desc",
    );
    expect(rows.map(({ seconds }) => seconds)).toEqual([expect.closeTo(10, -1), expect.closeTo(30, -1)]);
    isEngineUp = true;
    await tasks.sweep();
    expect(sent).toEqual([]);
    await query("update engine_tasks set send_after = now()");
    await tasks.sweep();
    await tasks.sweep();
    expect(sent).toHaveLength(2);
    expect(counted).toHaveBeenLastCalledWith(0);
  });

  test("that cannot be sent for a week is given up, with an error in the log", async () => {
    const tasks = startProcess();
    isEngineUp = false;
    const [id] = await insertTasks(await insertOrganisation(), 1, "8 days");
    await tasks.sweep();
    expect(await listIds()).toEqual([]);
    expect(logged.error).toHaveBeenCalledWith(
      expect.objectContaining({ taskId: id, kind: "embed_memory" }),
      "engine task too old, given up",
    );
  });

  test("of one organisation does not wait for a thousand of another", async () => {
    const tasks = startProcess();
    await insertTasks(await insertOrganisation(), 999);
    const [id] = await insertTasks(await insertOrganisation(), 1, "6 seconds");
    await query("update engine_tasks set kind = 'clear_memory'");
    await tasks.sweep();
    expect(sent.slice(0, 100)).toContain(id);
  });

  test("is refused with 503 while a thousand of its organisation wait, and other organisations notice nothing", async () => {
    const tasks = startProcess();
    const [full, other] = [await insertOrganisation(), await insertOrganisation()];
    await insertTasks(full, 1000, "1 minute", "now() + interval '1 day'");
    await expect(addInTransaction(tasks, newTask(full))).rejects.toMatchObject({ code: "unavailable" });
    await addInTransaction(tasks, newTask(other));
    expect(await listIds()).toHaveLength(1001);
  });
});
