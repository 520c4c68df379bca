import { type Invocation, RunCancelledError, RunFailedError, type RunStreamEvent } from "@perch/sdk";
import { describe, expect, test } from "vitest";
import type { ArrivedEvent } from "../../../run-trace/trace-of-events.ts";
import { differenceText } from "./difference.ts";
import { nextSession } from "./edit.ts";
import { pushEvent } from "./follow-turn.ts";
import { addEvents, counterpartOf, failTurn, joinTurns, newTurn, StoppedUnsentError, turnOfRun } from "./turn.ts";

const turn = newTurn({ id: "1", session: "s", message: "Tea?" }, 1000);
const done: RunStreamEvent = {
  type: "done",
  response: "Yes.",
  request_id: "req_1",
  tokens_used: 2,
  duration_ms: 70,
};
const token = (step: number, snapshot: string): RunStreamEvent => ({
  type: "token",
  step,
  offset: 0,
  text: snapshot,
  snapshot,
});
const failure = { code: "run_failed", message: "No.", details: [{ field: "request_id", error: "req_1" }] };
const run: Invocation = {
  request_id: "req_1",
  agent_id: "agent_1",
  status: "completed",
  environment: "production",
  version: "v1",
  deployment_id: null,
  user_id: null,
  session_id: "s",
  message: "Tea?",
  response: "Yes.",
  error: null,
  error_code: null,
  retryable: null,
  steps: 1,
  tokens_used: 2,
  duration_ms: 70,
  created_at: "2026-01-01T00:00:00.000Z",
  finished_at: null,
  timeline: [],
};

describe("a turn", () => {
  test("has the answer as far as it has come, then the result of the run", () => {
    const answering = addEvents({ ...turn, trouble: "lost" }, [{ event: token(1, "Ye"), atMs: 1010 }]);
    expect(answering).toMatchObject({ status: "running", answer: "Ye", tokens: null, trouble: undefined });
    expect(addEvents(answering, [{ event: done, atMs: 1080 }])).toMatchObject({
      status: "completed",
      answer: "Yes.",
      runId: "req_1",
      tokens: 2,
      durationMs: 70,
    });
  });

  test("that failed keeps its answer so far, the error and the run; a cancelled run is not a failed one", () => {
    const answering = addEvents(turn, [{ event: token(1, "Ye"), atMs: 1010 }]);
    const error = new RunFailedError(failure);
    expect(failTurn(answering, error, 1100)).toMatchObject({
      status: "failed",
      answer: "Ye",
      error,
      runId: "req_1",
      durationMs: 100,
    });
    expect(failTurn(answering, new RunCancelledError(failure), 1100).status).toBe("cancelled");
  });

  test("that was refused before it became a run has neither duration nor tokens", () => {
    expect(failTurn(turn, new Error("refused"), 1100)).toMatchObject({ durationMs: null, tokens: null });
  });

  test("that was stopped before it was sent is cancelled, and is not a run", () => {
    expect(failTurn(turn, new StoppedUnsentError(), 1100)).toMatchObject({ status: "cancelled", runId: undefined });
  });

  test("that has ended does not end again", () => {
    const ended = addEvents(turn, [{ event: done, atMs: 1080 }]);
    expect(failTurn(ended, new Error("late"), 2000)).toBe(ended);
  });
});

describe("the turns of a session", () => {
  test("a run of this page takes the place of the same run in the record", () => {
    const own = addEvents(turn, [{ event: done, atMs: 1080 }]);
    const earlier = turnOfRun({ ...run, request_id: "req_0" });
    expect(joinTurns([earlier, turnOfRun(run)], [own])).toEqual([earlier, own]);
  });

  test("a run that is under way is shown as running, with nothing known of its steps yet", () => {
    const running = turnOfRun({ ...run, status: "running", response: null, duration_ms: null });
    expect(running).toMatchObject({ status: "running", answer: "", tokens: null, isFollowed: true });
    expect(running.trace?.steps).toEqual([]);
  });

  test("two sides are compared turn by turn from the last, where they have the same message", () => {
    const earlier = { ...turn, id: "0", message: "Hello" };
    const other = { ...turn, id: "2" };
    expect(counterpartOf([earlier, turn], 1, [other])).toBe(other);
    expect(counterpartOf([earlier, turn], 0, [other])).toBeUndefined();
    expect(counterpartOf([other], 0, [earlier, { ...turn, message: "Coffee?" }])).toBeUndefined();
  });
});

test("differences have a sign, and wait until both have ended", () => {
  const fast = { status: "completed", durationMs: 100, tokens: 1030 } as const;
  const slow = { status: "completed", durationMs: 1100, tokens: 30 } as const;
  expect(differenceText(slow, fast)).toBe("+1.00 s, −1,000 tokens");
  expect(differenceText(fast, slow)).toBe("−1.00 s, +1,000 tokens");
  expect(differenceText(fast, { ...slow, status: "running" })).toBeUndefined();
});

test("only the newest snapshot of a text is passed on per frame, with every other event", () => {
  const pending: ArrivedEvent[] = [];
  const dropped: RunStreamEvent = { type: "dropped", message: "m" };
  for (const event of [token(1, "a"), token(1, "ab"), dropped, token(1, "abc"), token(2, "x"), token(2, "xy")])
    pushEvent(pending, { event, atMs: 0 });
  expect(pending.map(({ event }) => event)).toEqual([token(1, "ab"), dropped, token(1, "abc"), token(2, "xy")]);
});

describe("the session of the next message", () => {
  test("is the one in the address, or a new one", () => {
    expect(nextSession("s", undefined)).toEqual({ id: "s", isNew: false });
    expect(nextSession(undefined, undefined)).toMatchObject({ isNew: true });
    expect(nextSession(undefined, undefined).id).not.toBe(nextSession(undefined, undefined).id);
  });

  test("an edited message begins a new session unless its own is chosen", () => {
    const edit = { runId: "req_1", session: "s1", continues: false };
    expect(nextSession("s", edit)).toMatchObject({ isNew: true });
    expect(nextSession("s", { ...edit, continues: true })).toEqual({ id: "s1", isNew: false });
  });
});
