import { countRunsByKey, listRunsLeft } from "@perch/testkit/installation/engine-invocations.ts";
import { countHeldSlots } from "@perch/testkit/installation/held-slots.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import type { Api } from "../api-client.ts";
import type { Installation } from "./installation.ts";
import type { Organisation } from "./organisations.ts";
import type { Effect, Said } from "./outside-servers.ts";
import { isRefused } from "./plan.ts";
import { forEachOf, invoke, kindOf, type Run } from "./runs.ts";

export interface RecordedRun {
  readonly id: string;
  readonly status: string;
  readonly response: string | null;
  readonly cut: number;
  readonly steps: number;
  /** The kinds of its log lines, in the order of the alphabet. */
  readonly log: readonly string[];
  readonly events: number;
}

export interface RecordedApproval {
  readonly run_id: string;
  readonly step: number;
  readonly call: number;
  readonly status: string;
  readonly events: number;
}

/** An invoke that was sent again after everything. */
export interface LaterAnswer {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly response: string | undefined;
}

/** All that is seen from outside, and all that is stored. */
export interface Observed {
  readonly runs: readonly Run[];
  readonly records: readonly RecordedRun[];
  readonly approvals: readonly RecordedApproval[];
  /** Rows of runs that still wait, and the number that the counter shows. */
  readonly stillWaiting: { readonly rows: number; readonly counted: number };
  readonly effects: readonly Effect[];
  readonly repeats: readonly { readonly key: string }[];
  /** The last input of the model, by request id. */
  readonly conversations: ReadonlyMap<string, readonly Said[]>;
  /** Model calls by request id and step, as "inv_1 2". */
  readonly modelCalls: ReadonlyMap<string, number>;
  readonly laterAnswers: ReadonlyMap<string, LaterAnswer>;
  /** Invocations of the engine by idempotency key. */
  readonly continuations: ReadonlyMap<string, number>;
  readonly runsLeft: readonly string[];
  /** Slots that are still occupied after all runs have ended. */
  readonly slotsLeft: number;
}

const recordsSql = `
  select i.id, i.status, i.response, i.cut, i.steps,
         array(select l.metadata ->> 'type' from log_entries l
                where l.invocation_id = i.id and l.metadata -> 'failed' is null order by 1) as log,
         (select count(*)::int from events e where e.id = i.id) as events
    from invocations i`;
const approvalsSql = `
  select a.run_id, a.step, a.call, a.status, (select count(*)::int from events e where e.id = a.id) as events from approvals a`;

const readDatabase = (adminUrl: string) =>
  withClient(adminUrl, async (client) => {
    const records = await client.query<RecordedRun>(recordsSql);
    const approvals = await client.query<RecordedApproval>(approvalsSql);
    const waiting = await client.query<{ rows: number; counted: number }>(
      `select (select count(*)::int from waiting_runs) as rows,
              (select coalesce(sum(runs), 0)::int from waiting_run_counts) as counted`,
    );
    const stillWaiting = waiting.rows[0] ?? { rows: -1, counted: -1 };
    return { records: records.rows, approvals: approvals.rows, stillWaiting };
  });

/** A retry with the same key gets the result. A retry of an invoke that was refused would start a run now. */
async function sendAgain(api: Api, organisations: readonly Organisation[], runs: readonly Run[]) {
  const answers = new Map<string, LaterAnswer>();
  const accepted = runs.filter((run) => !isRefused(kindOf(run)));
  await forEachOf(accepted, async (run) => {
    const { status, body } = await invoke(api, organisations, run);
    const { data } = body as { data?: { request_id: string; response: string } };
    answers.set(run.message, { status, requestId: data?.request_id, response: data?.response });
  });
  return answers;
}

export async function observe(
  { postgres, valkey, engine, payments, model }: Installation,
  api: Api,
  organisations: readonly Organisation[],
  runs: readonly Run[],
): Promise<Observed> {
  const laterAnswers = await sendAgain(api, organisations, runs);
  const calls = Map.groupBy(model.calls, ({ request_id, step }) => `${request_id} ${step}`);
  return {
    runs,
    laterAnswers,
    ...(await readDatabase(postgres.adminUrl)),
    effects: payments.effects,
    repeats: payments.repeats,
    conversations: new Map(model.calls.map(({ request_id, messages }) => [request_id, messages])),
    modelCalls: new Map([...calls].map(([key, own]) => [key, own.length])),
    continuations: await countRunsByKey(engine),
    runsLeft: await listRunsLeft(engine, 30),
    slotsLeft: await countHeldSlots(valkey.url, postgres.adminUrl),
  };
}
