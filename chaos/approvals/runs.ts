import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { toPublicId } from "../../packages/server/src/platform/ids.ts";
import type { Api } from "../api-client.ts";
import type { Organisation } from "./organisations.ts";
import { type Fate, isRefused, type Kind, kinds, type PlannedRun } from "./plan.ts";

/** A run of the plan, and the actions and observations of its clients and approvers. */
export interface Run extends PlannedRun {
  readonly key: string;
  /** The code of the error that answered the invoke: `action_required` if the run waits. */
  firstCode: string;
  id: string;
  requestId: string;
  /** Whether faults were injected while it was decided. */
  isDisturbed: boolean;
  /** By step and call, as "1.2". */
  readonly fates: Map<string, Fate>;
  /** When the last decision on a step was sent. */
  readonly decidedAtMs: Map<number, number>;
  /** Answers to approvers that are not as promised. */
  readonly problems: string[];
}

export const kindOf = (run: PlannedRun): Kind => kinds[run.kind];

const concurrency = 24;

const toRun = (planned: PlannedRun): Run => ({
  ...planned,
  key: `approvals-${process.pid}-${planned.number}`,
  firstCode: "",
  id: "",
  requestId: "",
  isDisturbed: false,
  fates: new Map(),
  decidedAtMs: new Map(),
  problems: [],
});

const bodyOf = ({ message, sessionId }: PlannedRun) => ({
  message,
  ...(sessionId !== undefined && { context: { session_id: sessionId } }),
});

const codeOf = (body: unknown): string => (body as { error?: { code: string } }).error?.code ?? "";

/** 409 means that the run waits or was cancelled. 422 means that it failed. */
const ended = [409, 422];

export const invoke = (api: Api, organisations: readonly Organisation[], run: Run) =>
  api.post(`/v1/agents/${run.agent}/invoke`, organisations[run.organisation]?.invoker ?? "", bodyOf(run), {
    key: run.key,
    allowed: ended,
  });

/** Works on all items, some at a time, in their order. */
export async function forEachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const remaining = items.values();
  const next = async () => {
    for (const item of remaining) await work(item);
  };
  await Promise.all(Array.from({ length: concurrency }, next));
}

/** Sends all runs, and a session's second turn when the first was answered. Resolves when each was answered. */
export async function sendRuns(
  api: Api,
  organisations: readonly Organisation[],
  planned: readonly PlannedRun[],
): Promise<Run[]> {
  const runs = planned.map(toRun);
  const answered = new Map(runs.map(({ number }) => [number, Promise.withResolvers<void>()]));
  await forEachOf(runs, async (run) => {
    if (kindOf(run).isNextTurn) await answered.get(run.number - 1)?.promise;
    const { status, body } = await invoke(api, organisations, run);
    run.firstCode = codeOf(body);
    const expected = isRefused(kindOf(run)) ? "conflict" : "action_required";
    if (run.firstCode !== expected)
      run.problems.push(`its invoke was answered with ${status} ${JSON.stringify(body).slice(0, 200)}`);
    answered.get(run.number)?.resolve();
  });
  return runs;
}

/** Messages are unique, so each identifies its run. */
export const findIds = (adminUrl: string, runs: readonly Run[]): Promise<void> =>
  withClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ id: string; message: string }>("select id, message from invocations");
    const idOf = new Map(rows.map(({ id, message }) => [message, id]));
    for (const run of runs) {
      run.id = idOf.get(run.message) ?? "";
      run.requestId = run.id && toPublicId("request", run.id);
    }
  });

/** Waits until so many runs have a status, at most for so long, and returns how many have. */
export const waitForStatus = (
  adminUrl: string,
  statuses: readonly string[],
  count: number,
  seconds: number,
): Promise<number> =>
  withClient(adminUrl, async (client) => {
    const deadline = performance.now() + seconds * 1000;
    for (;;) {
      const { rowCount } = await client.query("select from invocations where status = any($1)", [statuses]);
      if (rowCount === count || performance.now() > deadline) return rowCount ?? 0;
      await sleep(200);
    }
  });
