import { expect, test } from "vitest";
import { editedAmount, givenAnswer, reason } from "./decisions.ts";
import type { LaterAnswer, Observed, RecordedApproval, RecordedRun } from "./observe.ts";
import type { Effect, Said } from "./outside-servers.ts";
import {
  actionOf,
  type Fate,
  isRefused,
  needsPerson,
  type PlannedCall,
  planRuns,
  suspensionsOf,
  type Way,
} from "./plan.ts";
import { kindOf, type Run } from "./runs.ts";
import { type Findings, judge } from "./verdict.ts";

/** The fates of a reply's calls that need a person, in their order. */
const fatesOf: Partial<Record<Way, readonly Fate[]>> = {
  reject: ["rejected"],
  edit: ["edited"],
  "reject the first call, after the others": ["rejected"],
  answer: ["answered"],
  "let it expire": ["expired"],
  "cancel the run": ["cancelled"],
};

function toRun(planned: ReturnType<typeof planRuns>[number]): Run {
  const { way, replies } = kindOf({ ...planned } as Run);
  const fates = new Map<string, Fate>();
  for (const [i, calls] of replies.entries()) {
    const given = (fatesOf[way] ?? []).values();
    for (const [n, call] of calls.entries())
      fates.set(`${i + 1}.${n + 1}`, needsPerson(call) ? (given.next().value ?? "approved") : "free");
  }
  const requestId = `inv_${planned.number}`;
  return {
    ...planned,
    key: "",
    firstCode: "action_required",
    id: `run-${planned.number}`,
    requestId,
    isDisturbed: false,
    fates,
    decidedAtMs: new Map(),
    problems: [],
  };
}

const isMade = (fate: Fate) => fate === "approved" || fate === "edited" || fate === "free";
const amountOf = ({ amount }: PlannedCall, fate: Fate) => (fate === "edited" ? editedAmount : amount);

const resultOf = (fate: Fate, action: string, callId: string): Said => {
  const told: Partial<Record<Fate, string>> = { answered: givenAnswer, rejected: `No: ${reason}`, expired: "No." };
  const failed = fate === "rejected" || fate === "expired";
  return { role: "tool", callId, content: told[fate] ?? `{"paid":"${action}"}`, failed };
};

/** Runs of all kinds, exactly as they should end. */
function createSound(): Observed {
  const runs = planRuns(0, 2).map(toRun);
  const effects: Effect[] = [];
  const conversations = new Map<string, readonly Said[]>();
  const modelCalls = new Map<string, number>();
  const records: RecordedRun[] = [];
  const approvals: RecordedApproval[] = [];
  const laterAnswers = new Map<string, LaterAnswer>();
  const continuations = new Map<string, number>();
  for (const run of runs) {
    const kind = kindOf(run);
    if (isRefused(kind)) continue;
    const suspensions = suspensionsOf(kind);
    const isCancelled = [...run.fates.values()].includes("cancelled");
    const status = isCancelled ? "cancelled" : "completed";
    const said: Said[] = kind.isNextTurn ? [{ role: "user", content: "the turn before" }] : [];
    said.push({ role: "user", content: run.message });
    for (const [i, calls] of kind.replies.entries()) {
      modelCalls.set(`${run.requestId} ${i + 1}`, 1);
      const made = calls.map((call, n) => ({ call, at: `${i + 1}.${n + 1}`, n }));
      const toolCalls = made.map(({ call, at, n }) => ({
        id: `call-${i + 1}-${n + 1}`,
        arguments: { amount: amountOf(call, run.fates.get(at) ?? "free") },
      }));
      said.push({ role: "assistant", content: "", toolCalls });
      for (const { call, at, n } of made) {
        const fate = run.fates.get(at) ?? "free";
        const action = actionOf(run.message, i + 1, n + 1);
        if (isMade(fate) && call.tool !== "ask")
          effects.push({ key: `${run.requestId}-${at}`, action, amount: amountOf(call, fate), atMs: 0 });
        said.push(resultOf(fate, action, `call-${i + 1}-${n + 1}`));
        if (fate !== "free")
          approvals.push({
            run_id: run.id,
            step: i + 1,
            call: n + 1,
            status: fate === "edited" ? "approved" : fate,
            events: 1,
          });
      }
    }
    conversations.set(run.requestId, said);
    for (let n = 1; n <= suspensions; n++) continuations.set(`${run.id}.${n}`, 1);
    continuations.set(run.id, 1);
    records.push({
      id: run.id,
      status,
      response: "done",
      cut: suspensions,
      steps: 2,
      log: ["ended", "model_call", "model_call"],
      events: 1,
    });
    laterAnswers.set(run.message, { status: isCancelled ? 409 : 200, requestId: run.requestId, response: "done" });
  }
  const stillWaiting = { rows: 0, counted: 0 };
  return {
    ...{ runs, records, approvals, stillWaiting, effects, conversations, modelCalls, laterAnswers, continuations },
    repeats: [],
    runsLeft: [],
    slotsLeft: 0,
  };
}

const brokenIn = (findings: Findings): string[] =>
  Object.entries(findings)
    .filter(([, lines]) => (lines as readonly string[]).length > 0)
    .map(([name]) => name);

test("runs of every kind that end as their persons decided are clean", () => {
  expect(judge(createSound())).toEqual(Object.fromEntries(Object.keys(judge(createSound())).map((name) => [name, []])));
});

const find = <T>(all: readonly T[], isIt: (each: T) => boolean): T => {
  const found = all.find(isIt);
  if (!found) throw new Error("The sound case has none of these");
  return found;
};
const runOf = ({ runs }: Observed, kind: Run["kind"]) => find(runs, (run) => run.kind === kind);
const changeRun = (observed: Observed, kind: Run["kind"], change: Partial<RecordedRun>): Observed => {
  const { id } = runOf(observed, kind);
  return { ...observed, records: observed.records.map((each) => (each.id === id ? { ...each, ...change } : each)) };
};
const changeSaid = (observed: Observed, kind: Run["kind"], change: (said: readonly Said[]) => readonly Said[]) => {
  const { requestId } = runOf(observed, kind);
  const said = change(observed.conversations.get(requestId) ?? []);
  return { ...observed, conversations: new Map([...observed.conversations, [requestId, said]]) };
};

test.each<[string, (sound: Observed) => Observed, readonly (keyof Findings)[]]>([
  ["a run that still waits", (sound) => changeRun(sound, "approved", { status: "waiting" }), ["lost"]],
  [
    "a refused turn that became a run",
    (sound) => {
      const [record] = sound.records;
      const { id } = runOf(sound, "next turn, refused");
      return record ? { ...sound, records: [...sound.records, { ...record, id, cut: 0 }] } : sound;
    },
    ["lost"],
  ],
  ["a run that failed", (sound) => changeRun(sound, "four eyes", { status: "failed" }), ["lost"]],
  [
    "a call that was approved and not made",
    (sound) => ({ ...sound, effects: sound.effects.slice(1) }),
    ["effects_missing"],
  ],
  [
    "a call that was made again under another key",
    (sound) => {
      const [first] = sound.effects;
      return first ? { ...sound, effects: [...sound.effects, { ...first, key: "other" }] } : sound;
    },
    ["effects_doubled"],
  ],
  ...(["rejected", "expired", "cancelled"] as const).map(
    (kind): [string, (sound: Observed) => Observed, readonly (keyof Findings)[]] => [
      `a call that was made though ${kind}`,
      (sound) => {
        const action = actionOf(runOf(sound, kind).message, 1, 1);
        return { ...sound, effects: [...sound.effects, { key: "k", action, amount: 10, atMs: 0 }] };
      },
      ["effects_forbidden"],
    ],
  ),
  [
    "a call that was made with the arguments before an edit",
    (sound) => {
      const { message } = runOf(sound, "edited");
      const effects = sound.effects.map((each) => (each.action.startsWith(message) ? { ...each, amount: 10 } : each));
      return { ...sound, effects };
    },
    ["decisions_unlike_calls"],
  ],
  [
    "two results that were exchanged",
    (sound) =>
      changeSaid(sound, "pair at once", (said) =>
        said.map((each) => ({
          ...each,
          ...(each.callId && { callId: each.callId === "call-1-1" ? "call-1-2" : "call-1-1" }),
        })),
      ),
    ["decisions_unlike_calls"],
  ],
  [
    "a rejection that the model got as a success",
    (sound) => changeSaid(sound, "rejected", (said) => said.map((each) => ({ ...each, failed: false }))),
    ["decisions_unlike_calls"],
  ],
  [
    "a queued turn that does not see the turn before it",
    (sound) => changeSaid(sound, "next turn, queued", (said) => said.slice(1)),
    ["decisions_unlike_calls"],
  ],
  [
    "contradicting decisions that were both accepted",
    (sound) => ({
      ...sound,
      runs: sound.runs.map((run) => (run.kind === "contradicted" ? { ...run, problems: ["200 and 200"] } : run)),
    }),
    ["answers_unlike_promises"],
  ],
  [
    "a retry that does not get the result",
    (sound) => {
      const { message } = runOf(sound, "approved");
      const answer = { status: 409, requestId: undefined, response: undefined };
      return { ...sound, laterAnswers: new Map([...sound.laterAnswers, [message, answer]]) };
    },
    ["answers_unlike_promises"],
  ],
  [
    "a suspension that was continued twice",
    (sound) => ({
      ...sound,
      continuations: new Map([...sound.continuations, [`${runOf(sound, "approved").id}.1`, 2]]),
    }),
    ["continuations_unlike_suspensions"],
  ],
  [
    "a suspension that was never continued",
    (sound) => ({
      ...sound,
      continuations: new Map([...sound.continuations].filter(([key]) => key !== `${runOf(sound, "waits twice").id}.2`)),
    }),
    ["continuations_unlike_suspensions"],
  ],
  [
    "a tool that was called again while nothing was killed",
    (sound) => ({ ...sound, repeats: [{ key: `${runOf(sound, "approved").requestId}-1.1` }] }),
    ["repeated_without_fault"],
  ],
  [
    "a model that was called again while nothing was killed",
    (sound) => ({ ...sound, modelCalls: new Map([...sound.modelCalls, [`${runOf(sound, "edited").requestId} 1`, 2]]) }),
    ["repeated_without_fault"],
  ],
  [
    "log lines that were written twice",
    (sound) => changeRun(sound, "question", { log: ["ended", "model_call", "model_call", "model_call"] }),
    ["records_unlike_runs"],
  ],
  [
    "an approval without its event",
    (sound) => ({ ...sound, approvals: sound.approvals.map((each) => ({ ...each, events: 0 })) }),
    ["records_unlike_runs"],
  ],
  ["a row of a run that waits", (sound) => ({ ...sound, stillWaiting: { rows: 1, counted: 0 } }), ["runs_left"]],
  [
    "a counter that was not counted down",
    (sound) => ({ ...sound, stillWaiting: { rows: 0, counted: 1 } }),
    ["runs_left"],
  ],
  ["a slot that was not released", (sound) => ({ ...sound, slotsLeft: 1 }), ["runs_left"]],
])("%s is found", (_, spoil, expected) => {
  expect(brokenIn(judge(spoil(createSound())))).toEqual(expected);
});

test("a tool that was called again after a kill is not a finding", () => {
  const sound = createSound();
  const runs = sound.runs.map((run) => ({ ...run, isDisturbed: true }));
  expect(brokenIn(judge({ ...sound, runs, repeats: [{ key: `${runs[0]?.requestId}-1.1` }] }))).toEqual([]);
});
