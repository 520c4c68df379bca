import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { Engine } from "../../engine/engine.ts";
import { ApiError } from "../../platform/api-error.ts";
import type { Unchanged } from "../../platform/change-results.ts";
import type { Logger } from "../../platform/logger.ts";
import type { EngineTask } from "./engine-task-queries.ts";
import * as queries from "./engine-task-queries.ts";

export type { EngineTask } from "./engine-task-queries.ts";

/** Writes a task in the transaction of the change that needs it. */
export type AddTask = (task: EngineTask) => Promise<void>;

/**
 * The tasks for the engine after a commit. A task is a row that commits with its change, so no transaction waits for
 * the engine, and a process that dies loses nothing. The process that committed it sends it at once and then deletes
 * it. Every process looks each second for tasks that were not sent.
 */
export interface EngineTasks {
  /** Makes a change, and sends the tasks that it added once it has committed. Does not wait for the engine. */
  readonly change: <T>(
    change: <R>(work: (trx: OrganisationTransaction) => Promise<R | Unchanged<R>>) => Promise<R>,
    work: (trx: OrganisationTransaction, add: AddTask) => Promise<T | Unchanged<T>>,
  ) => Promise<T>;
  readonly add: (trx: OrganisationTransaction, task: EngineTask) => Promise<void>;
  /** Sends a committed task, without waiting. */
  readonly send: (task: EngineTask) => void;
  /** Deletes a committed task that is needed no more. */
  readonly discard: (task: EngineTask) => void;
  /** Sends tasks that were committed and not sent, and deletes sent ones. */
  readonly sweep: () => Promise<void>;
  /** Waits for tasks that are being sent, and sweeps once more. */
  readonly finish: () => Promise<void>;
}

interface EngineTasksDeps {
  readonly db: Database;
  readonly engine: Pick<Engine, "activate" | "embedMemory" | "clearMemory">;
  readonly logger: Logger;
  readonly now: () => number;
  /** Called at each sweep. */
  readonly onCounted: (waiting: number) => void;
}

/**
 * While the engine does not answer, each send lasts for its time limit. Tasks beyond this number are left to the sweep.
 */
const maxSending = 32;
/** How many tasks a sweep sends at a time. If all of them fail, the sweep ends. */
const sentTogether = 10;
const maxAgeMs = 7 * 86_400_000;

const tooManyWaiting = () =>
  new ApiError(
    "unavailable",
    "The engine that runs agents cannot be reached, and too many changes of this organisation wait for it. Try again later.",
    { retryAfterSeconds: 30 },
  );

/** Sends tasks to the engine, and remembers whose rows can be deleted. */
function createTaskSender({ db, engine, logger, now }: Omit<EngineTasksDeps, "onCounted">) {
  const sending = new Set<Promise<boolean>>();
  let settled: string[] = [];

  const sendToEngine = (task: EngineTask): Promise<void> => {
    const { id, organisationId, agentId } = task;
    const agent = { organisationId, agentId };
    if (task.kind === "activate_deployment") return engine.activate({ ...agent, id, environment: task.environment });
    return task.kind === "clear_memory" ? engine.clearMemory({ ...agent, id }) : engine.embedMemory(agent);
  };

  const trySend = async (task: EngineTask): Promise<boolean> => {
    try {
      await sendToEngine(task);
      settled.push(task.id);
      return true;
    } catch (error) {
      logger.debug({ err: error, taskId: task.id, kind: task.kind }, "engine task not sent, will retry");
      return false;
    }
  };

  return {
    send: (task: EngineTask): void => {
      if (sending.size >= maxSending) return;
      const attempt = trySend(task).finally(() => sending.delete(attempt));
      sending.add(attempt);
    },
    discard: ({ id }: EngineTask): void => void settled.push(id),
    /** Gives a task up if it is too old. */
    sendClaimed: async ({ task, createdAt }: queries.ClaimedTask): Promise<boolean> => {
      const isSent = await trySend(task);
      if (isSent || now() - createdAt.getTime() < maxAgeMs) return isSent;
      const { kind, id: taskId, organisationId, agentId } = task;
      logger.error({ kind, taskId, organisationId, agentId, createdAt }, "engine task too old, given up");
      settled.push(taskId);
      return false;
    },
    deleteSettled: async (): Promise<void> => {
      const ids = settled;
      settled = [];
      if (ids.length > 0) await queries.deleteTasks(db.unscoped, ids);
    },
    finish: () => Promise.all(sending),
  };
}

/** Sends tasks that any process committed and did not send, and deletes those that this one has sent. */
function createSweepOnce(deps: EngineTasksDeps, sender: ReturnType<typeof createTaskSender>): () => Promise<void> {
  const { db, logger, onCounted } = deps;
  let wasWaiting = false;

  const countWaiting = async (): Promise<number> => {
    const waiting = await queries.countWaitingTasks(db.unscoped);
    onCounted(waiting);
    if (waiting > 0 && !wasWaiting) logger.warn({ waiting }, "engine tasks are waiting to be sent");
    if (waiting === 0 && wasWaiting) logger.info("engine tasks are no longer waiting");
    wasWaiting = waiting > 0;
    return waiting;
  };

  const sendDue = async (): Promise<void> => {
    const due = await queries.claimDueTasks(db.unscoped);
    for (let at = 0; at < due.length; at += sentTogether) {
      const sent = await Promise.all(due.slice(at, at + sentTogether).map(sender.sendClaimed));
      if (!sent.includes(true)) return;
    }
  };

  const sweepOnce = async (): Promise<void> => {
    try {
      await sender.deleteSettled();
      if ((await countWaiting()) === 0) return;
      await sendDue();
      await sender.deleteSettled();
    } catch (error) {
      logger.debug({ err: error }, "engine task sweep failed, will retry");
    }
  };

  return sweepOnce;
}

export function createEngineTasks(deps: EngineTasksDeps): EngineTasks {
  const sender = createTaskSender(deps);
  const sweep = createSweepOnce(deps, sender);

  const add: EngineTasks["add"] = async (trx, task) => {
    if (!(await queries.insertTask(trx, task))) throw tooManyWaiting();
  };

  return {
    change: async (change, work) => {
      const added: EngineTask[] = [];
      const result = await change((trx) =>
        work(trx, async (task) => {
          await add(trx, task);
          added.push(task);
        }),
      );
      added.forEach(sender.send);
      return result;
    },
    add,
    send: sender.send,
    discard: sender.discard,
    sweep,
    finish: async () => {
      await sender.finish();
      await sweep();
    },
  };
}
