import { editedAmount, givenAnswer, reason } from "./decisions.ts";
import type { Observed, RecordedRun } from "./observe.ts";
import type { Said } from "./outside-servers.ts";
import { actionOf, type Fate, isRefused, type PlannedCall, suspensionsOf } from "./plan.ts";
import { kindOf, type Run } from "./runs.ts";

/** One list for each promise, with a line for each violation. */
export interface Findings {
  /** Runs that did not end as they should have. */
  readonly lost: readonly string[];
  readonly effects_missing: readonly string[];
  readonly effects_doubled: readonly string[];
  /** Effects of calls that were rejected, had expired, or whose run was cancelled. */
  readonly effects_forbidden: readonly string[];
  /** The tool got, or the model read, something other than the person decided on. */
  readonly decisions_unlike_calls: readonly string[];
  /** Answers to approvers and to retries of the invoke that are not as promised. */
  readonly answers_unlike_promises: readonly string[];
  /** A suspension of a run must be continued exactly once. */
  readonly continuations_unlike_suspensions: readonly string[];
  /** Model calls and tool requests that were repeated though nothing was killed then. */
  readonly repeated_without_fault: readonly string[];
  readonly records_unlike_runs: readonly string[];
  readonly runs_left: readonly string[];
}

interface Call extends PlannedCall {
  readonly step: number;
  readonly number: number;
  readonly fate: Fate | undefined;
}

const callsOf = (run: Run): Call[] =>
  isRefused(kindOf(run))
    ? []
    : kindOf(run).replies.flatMap((calls, i) =>
        calls.map((call, n) => ({ ...call, step: i + 1, number: n + 1, fate: run.fates.get(`${i + 1}.${n + 1}`) })),
      );

const hasEffect = ({ fate }: Call): boolean => fate === "free" || fate === "approved" || fate === "edited";

function expectedStatus(run: Run): string {
  if (isRefused(kindOf(run))) return "not recorded";
  return callsOf(run).some(({ fate }) => fate === "cancelled") ? "cancelled" : "completed";
}

function judgeEffects(run: Run, { effects }: Observed) {
  const missing: string[] = [];
  const doubled: string[] = [];
  const forbidden: string[] = [];
  const unlike: string[] = [];
  for (const call of callsOf(run)) {
    const action = actionOf(run.message, call.step, call.number);
    const own = effects.filter((effect) => effect.action === action);
    const amount = call.fate === "edited" ? editedAmount : call.amount;
    if (own.length > 1) doubled.push(`${action}: done ${own.length} times, with ${own.map(({ key }) => key).join()}`);
    if (own.length > 0 && !hasEffect(call)) forbidden.push(`${action}: done though ${call.fate}`);
    if (own.length === 0 && hasEffect(call)) missing.push(`${action}: ${call.fate} and not done`);
    if (own.some((effect) => effect.amount !== amount)) unlike.push(`${action}: done with ${own[0]?.amount}`);
  }
  return { missing, doubled, forbidden, unlike };
}

/** The text that the model must read as the result of a call. */
function isResultOf(run: Run, { fate, step, number }: Call, { content, failed }: Said): boolean {
  if (fate === "answered") return content.includes(givenAnswer) && !failed;
  if (fate === "rejected") return content.includes(reason) && failed === true;
  if (fate === "expired") return failed === true;
  return content.includes(`"paid":"${actionOf(run.message, step, number)}"`) && !failed;
}

/** Each result must be at its own call, and the model must see the arguments with which the call was made. */
function judgeConversation(run: Run, { conversations }: Observed): string[] {
  if (expectedStatus(run) !== "completed") return [];
  const said = conversations.get(run.requestId) ?? [];
  const own = said.slice(said.findLastIndex(({ content }) => content === run.message));
  return callsOf(run).flatMap((call) => {
    const id = `call-${call.step}-${call.number}`;
    const name = `${run.message} ${id}`;
    const results = own.filter(({ callId }) => callId === id);
    const [result] = results;
    if (!result || results.length > 1) return [`${name}: the model got ${results.length} results`];
    const asked = own.flatMap(({ toolCalls = [] }) => toolCalls).find((each) => each.id === id)?.arguments;
    const isSeen = call.fate !== "edited" || JSON.stringify(asked).includes(`"amount":${editedAmount}`);
    return [
      ...(isResultOf(run, call, result) ? [] : [`${name}: ${call.fate}, and the model got ${result.content}`]),
      ...(isSeen ? [] : [`${name}: edited, and the model sees ${JSON.stringify(asked)}`]),
    ];
  });
}

/** The second turn of a session follows the first, however long that waited. */
function judgeOrder(run: Run, { conversations }: Observed): string[] {
  const { isNextTurn, whileWaiting } = kindOf(run);
  if (!isNextTurn || whileWaiting !== "queue") return [];
  const users = (conversations.get(run.requestId) ?? []).filter(({ role }) => role === "user");
  return users.length === 2 ? [] : [`${run.message}: its model saw ${users.length - 1} earlier turns instead of 1`];
}

function judgeAnswers(run: Run, record: RecordedRun | undefined, { laterAnswers }: Observed): string[] {
  const expected = { completed: 200, cancelled: 409 }[expectedStatus(run)];
  const later = laterAnswers.get(run.message);
  const isSame =
    later?.status === expected &&
    (later?.status !== 200 || (later.requestId === run.requestId && later.response === record?.response));
  return [
    ...run.problems.map((problem) => `${run.message}: ${problem}`),
    ...(isSame ? [] : [`${run.message}: its key was answered with ${JSON.stringify(later)} later`]),
  ];
}

function judgeContinuations(run: Run, record: RecordedRun | undefined, { continuations }: Observed): string[] {
  const suspensions = suspensionsOf(kindOf(run));
  const keys = [...continuations].filter(([key]) => key.startsWith(`${run.id}.`));
  const expected = Array.from({ length: suspensions }, (_, i) => `${run.id}.${i + 1}`);
  const isOnce = keys.every(([key, count]) => count === 1 && expected.includes(key)) && keys.length === suspensions;
  return [
    ...(isOnce ? [] : [`${run.message}: suspended ${suspensions} times, continued as ${keys.join("; ") || "nothing"}`]),
    ...((record?.cut ?? 0) === suspensions
      ? []
      : [`${run.message}: recorded with ${record?.cut} suspensions instead of ${suspensions}`]),
  ];
}

function judgeRepeats(run: Run, { modelCalls, repeats }: Observed): string[] {
  if (run.isDisturbed) return [];
  const calls = [...modelCalls].filter(([key, count]) => key.startsWith(`${run.requestId} `) && count > 1);
  const requests = repeats.filter(({ key }) => key.startsWith(`${run.requestId}-`));
  return [
    ...calls.map(([key, count]) => `${run.message}: its model was called ${count} times for ${key}`),
    ...requests.map(({ key }) => `${run.message}: its tool was called again with ${key}`),
  ];
}

/** Records of each suspension and of the end must exist exactly once. */
function judgeRecord(run: Run, record: RecordedRun, { approvals }: Observed): string[] {
  const own = approvals.filter(({ run_id }) => run_id === run.id);
  const count = (type: string) => record.log.filter((each) => each === type).length;
  const isLogged = count("ended") === 1 && count("model_call") === record.steps;
  const asked = callsOf(run).filter(({ fate }) => fate !== "free");
  return [
    ...(isLogged ? [] : [`${run.message}: of ${record.steps} steps, logged ${record.log.join()}`]),
    ...(record.events === 1 ? [] : [`${run.message}: ended with ${record.events} events`]),
    ...(own.length === asked.length ? [] : [`${run.message}: ${own.length} approvals for ${asked.length} calls`]),
    ...own.filter(({ events }) => events !== 1).map(({ step, call }) => `${run.message}: no event for ${step}.${call}`),
    ...asked.flatMap(({ step, number, fate }) => {
      const { status } = own.find((each) => each.step === step && each.call === number) ?? {};
      const expected = fate === "edited" ? "approved" : fate;
      return status === expected ? [] : [`${run.message}: ${step}.${number} was ${expected}, and is kept as ${status}`];
    }),
  ];
}

export function judge(observed: Observed): Findings {
  const { runs, records, stillWaiting, runsLeft, slotsLeft } = observed;
  const recordOf = new Map(records.map((record) => [record.id, record]));
  const each = (judgeOne: (run: Run, record: RecordedRun | undefined) => readonly string[]) =>
    runs.flatMap((run) => judgeOne(run, recordOf.get(run.id)));
  const effects = runs.map((run) => judgeEffects(run, observed));
  return {
    lost: each((run, record) => {
      const expected = expectedStatus(run);
      const status = record?.status ?? "not recorded";
      return status === expected ? [] : [`${run.message}: ${status}, instead of ${expected}`];
    }),
    effects_missing: effects.flatMap(({ missing }) => missing),
    effects_doubled: effects.flatMap(({ doubled }) => doubled),
    effects_forbidden: effects.flatMap(({ forbidden }) => forbidden),
    decisions_unlike_calls: [
      ...effects.flatMap(({ unlike }) => unlike),
      ...each((run) => [...judgeConversation(run, observed), ...judgeOrder(run, observed)]),
    ],
    answers_unlike_promises: each((run, record) => judgeAnswers(run, record, observed)),
    continuations_unlike_suspensions: each((run, record) => judgeContinuations(run, record, observed)),
    repeated_without_fault: each((run) => judgeRepeats(run, observed)),
    records_unlike_runs: each((run, record) => (record ? judgeRecord(run, record, observed) : [])),
    runs_left: [
      ...runsLeft,
      ...(stillWaiting.rows === 0 ? [] : [`${stillWaiting.rows} runs still have a row as waiting runs`]),
      ...(stillWaiting.counted === 0 ? [] : [`${stillWaiting.counted} waiting runs are counted, and should be none`]),
      ...(slotsLeft === 0 ? [] : [`${slotsLeft} slots are held, and all runs have ended`]),
    ],
  };
}
