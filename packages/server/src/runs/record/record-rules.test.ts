import { describe, expect, test } from "vitest";
import type { RunInput, RunOutcome } from "../../engine/messages.ts";
import { newUuid, toPublicId, uuidTime } from "../../platform/ids.ts";
import { eventOf, memoryOf, recordOf, rollupOf } from "./record-rules.ts";

const id = newUuid();
const run = {
  id,
  acceptedAtMs: uuidTime(id).getTime(),
  organisationId: newUuid(),
  agentId: newUuid(),
  environment: "production",
  version: "v1",
  deploymentId: null,
  trial: null,
  definition: { memory: { recall: false, remember: true } },
  message: "hello",
  userId: "ada",
  sessionId: "s1",
  streamed: false,
  trace: null,
} as unknown as RunInput;
const spent = { steps: 1, tokensUsed: 7, durationMs: 250, costMicros: 12 };
const completed: RunOutcome = { status: "completed", response: "hi", ...spent };
const failed: RunOutcome = { status: "failed", error: "The run took longer than 5 s.", ...spent };
const cancelled: RunOutcome = { status: "cancelled", error: "Cancelled.", ...spent };
const session = { turn: 3, history: [] };

describe("the event of a run", () => {
  test("has the run's own id, and its type and data follow from how the run ended", () => {
    expect(eventOf(run, completed)).toMatchObject({
      type: "agent.completed",
      data: { request_id: toPublicId("request", id), status: "completed", tokens_used: 7 },
    });
    expect(eventOf(run, completed).data).not.toHaveProperty("response_truncated");
    expect(eventOf(run, failed)).toMatchObject({ type: "agent.failed", data: { error: failed.error } });
    expect(eventOf(run, cancelled)).toMatchObject({ type: "agent.failed", data: { status: "cancelled" } });
  });

  test("truncates a response of more than 65,536 characters, between two characters, and marks it as truncated", () => {
    const response = `${"x".repeat(65_535)}🐦`;
    const { data } = eventOf(run, { ...completed, response });
    expect(data).toMatchObject({ response_truncated: true });
    expect("response" in data && data.response.isWellFormed()).toBe(true);
    expect(eventOf(run, { ...completed, response: "x".repeat(65_536) }).data).not.toHaveProperty("response_truncated");
  });
});

describe("the metrics of a run", () => {
  test("count completed and failed runs in their minute and hour, and no cancelled ones", () => {
    expect(rollupOf(run, completed)).toMatchObject({ failed: 0, cost_micros: 12 });
    expect(rollupOf(run, failed)).toMatchObject({ failed: 1 });
    expect(rollupOf(run, cancelled)).toBeNull();
    const starts = rollupOf(run, completed);
    expect(starts?.minute.getTime()).toBe(uuidTime(id).setUTCSeconds(0, 0));
    expect(starts?.hour.getTime()).toBe(uuidTime(id).setUTCMinutes(0, 0, 0));
  });
});

describe("the record of a run", () => {
  test("a completed run becomes a turn of its session and a memory", () => {
    expect(recordOf(run, completed, session, [])).toMatchObject({ turn: 3, owner: "=ada" });
    expect(memoryOf(run, completed)).toMatchObject({ id, owner: "=ada" });
  });

  test("neither happens for a run that failed or was cancelled, nor a turn without a session", () => {
    for (const outcome of [failed, cancelled]) {
      expect(recordOf(run, outcome, session, [])).toMatchObject({ turn: null, response: null });
      expect(memoryOf(run, outcome)).toBeNull();
    }
    expect(recordOf({ ...run, sessionId: null }, completed, session, [])).toMatchObject({ turn: null });
  });

  test("only a failure has a code, and says whether a new run can help", () => {
    const late = { ...failed, code: "run_failed", retryable: true } as const;
    expect(recordOf(run, late, session, [])).toMatchObject({ error_code: "run_failed", retryable: true });
    // The last: of a journal that was written before failures had a code.
    for (const outcome of [completed, cancelled, failed]) {
      expect(recordOf(run, outcome, session, [])).not.toHaveProperty("error_code");
      expect(recordOf(run, outcome, session, [])).not.toHaveProperty("retryable");
    }
  });
});
