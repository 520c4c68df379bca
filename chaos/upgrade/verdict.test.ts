import { expect, test } from "vitest";
import type { Recorded, RecordedRun } from "../database-records.ts";
import type { Sent } from "./load.ts";
import { judgeUpgrade, type Observed } from "./verdict.ts";

const answer = (number: number) => ({
  response: `reply ${number} | after 0 | | call ${number}`,
  requestId: `run-${number}`,
});

const sentOf = (number: number, kind: Sent["kind"], change: Partial<Sent> = {}): Sent => ({
  key: `key-${number}`,
  kind,
  isSlow: number === 1,
  agent: "chaos",
  message: `message ${number}`,
  session: kind === "session_turn" ? { id: "s", index: 0 } : undefined,
  sentAtMs: 0,
  answers: [answer(number)],
  answeredAtMs: number * 1000,
  attempts: 1,
  lastRefusal: "",
  failure: undefined,
  ...change,
});

const runOf = (number: number, change: Partial<RecordedRun> = {}): RecordedRun => ({
  id: String(number),
  agent: "chaos",
  status: "completed",
  message: `message ${number}`,
  steps: 1,
  tokens: 1,
  log: ["ended", "model_call"],
  events: 1,
  deliveries: [],
  ...answer(number),
  ...change,
});

const recordedOf = (runs: readonly RecordedRun[]): Recorded => ({
  runs,
  sessions: new Map([["s", ["user: message 3", `assistant: ${answer(3).response}`]]]),
  sums: ["minute", "hour"].map((granularity) => ({
    agent: "chaos",
    granularity,
    runs: runs.length,
    tokens: runs.length,
  })),
  largestBatch: 1,
});

const move = { from: "1", to: "2", seconds: 9, pinned_runs: 1, drained_after_seconds: 5 };
const sound: Observed = {
  sent: [sentOf(1, "invocation"), sentOf(2, "stream"), sentOf(3, "session_turn")],
  recorded: recordedOf([runOf(1), runOf(2), runOf(3)]),
  calls: [1, 2, 3].map((number) => ({ requestId: `run-${number}`, step: 1, atMs: number })),
  received: new Set(),
  runsLeft: [],
  uncleanEnds: [],
  loadSeconds: 3,
  moves: [move],
};

test("an upgrade in which every run ends once, as its client saw, is clean", () => {
  const { verdict, lines, isClean } = judgeUpgrade(sound);
  expect(lines).toEqual([]);
  expect(isClean).toBe(true);
  expect(verdict).toMatchObject({ longest_wait_seconds: 3, longest_wait_of_slow_runs_seconds: 1, retried_attempts: 0 });
});

const failedCall = sentOf(1, "invocation", { answers: [], answeredAtMs: undefined, failure: "503", attempts: 5 });

test.each<[string, Partial<Observed>, object]>([
  [
    "a call that failed after all retries",
    { sent: [failedCall, ...sound.sent.slice(1)] },
    { failed: 1, lost: 0, retried_attempts: 4 },
  ],
  [
    "a run that was accepted, failed and never answered",
    {
      sent: [failedCall, ...sound.sent.slice(1)],
      recorded: recordedOf([runOf(1, { status: "failed" }), runOf(2), runOf(3)]),
    },
    { failed: 1, lost: 1 },
  ],
  ["an answered run without a record", { recorded: recordedOf([runOf(1), runOf(3)]) }, { lost: 1 }],
  [
    "two records for one key",
    { recorded: recordedOf([runOf(1), runOf(1, { id: "9", requestId: "run-9" }), runOf(2), runOf(3)]) },
    { doubled: 1 },
  ],
  [
    "a model call that was made twice",
    { calls: [...sound.calls, { requestId: "run-2", step: 1, atMs: 9 }] },
    { doubled: 1 },
  ],
  [
    "a turn that the session does not have",
    { recorded: { ...sound.recorded, sessions: new Map() } },
    { sessions_out_of_order: 1 },
  ],
  ["a run that the engine has not ended", { runsLeft: ["run-7"] }, { runs_left_in_engine: 1 }],
  ["a process that does not end with success", { uncleanEnds: ["serve ended with 1"] }, { unclean_ends: 1 }],
])("%s is counted, and the upgrade is not clean", (_, change, expected) => {
  const { verdict, lines, isClean } = judgeUpgrade({ ...sound, ...change });
  expect(verdict).toMatchObject(expected);
  expect(lines).not.toEqual([]);
  expect(isClean).toBe(false);
});

test.each<[string, Partial<Observed>]>([
  ["no change of release", { moves: [] }],
  ["no run that outlives the change", { moves: [{ ...move, pinned_runs: 0 }] }],
  ["no streams", { sent: sound.sent.filter(({ kind }) => kind !== "stream") }],
])("a test with %s proves nothing, and is not clean", (_, change) => {
  expect(judgeUpgrade({ ...sound, ...change }).isClean).toBe(false);
});
