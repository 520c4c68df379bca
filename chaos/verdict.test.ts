import { describe, expect, test } from "vitest";
import type { SentRequest } from "./clients.ts";
import type { Recorded } from "./database-records.ts";
import { countCalls } from "./model-calls.ts";
import { compare } from "./verdict.ts";

const sent = (extra: Partial<SentRequest> = {}): SentRequest => ({
  key: "key",
  message: "hello",
  session: undefined,
  sentAtMs: 0,
  answers: [{ requestId: "req_1", response: "hello | after 0 |" }],
  answeredAtMs: 1000,
  attempts: 1,
  lastRefusal: "",
  ...extra,
});
const row = { requestId: "req_1", status: "completed", message: "hello", response: "hello | after 0 |" };
const recorded = (extra: Partial<Recorded> = {}): Recorded => ({ runs: [row], sessions: new Map(), ...extra });
const counts = (items: SentRequest[], records: Recorded) => {
  const { lost, different, outOfOrder } = compare(items, records);
  return { lost: lost.length, different: different.length, outOfOrder: outOfOrder.length };
};
const clean = { lost: 0, different: 0, outOfOrder: 0 };

describe("what clients saw against what is recorded", () => {
  test("one answer and the same row is clean", () => expect(counts([sent()], recorded())).toEqual(clean));

  test("a key without an answer is lost", () =>
    expect(counts([sent({ answers: [] })], recorded())).toEqual({ ...clean, lost: 1 }));

  test("an answer without a row, or with one that never ended, is lost", () => {
    expect(counts([sent()], recorded({ runs: [] })).lost).toBe(1);
    expect(counts([sent()], recorded({ runs: [{ ...row, status: "running" }] })).lost).toBe(1);
  });

  test("another response, request id or second row is a different answer", () => {
    const other = [...sent().answers, { requestId: "req_1", response: "other" }];
    expect(counts([sent({ answers: other })], recorded())).toEqual({ ...clean, different: 1 });
    expect(counts([sent()], recorded({ runs: [{ ...row, requestId: "req_2" }] })).different).toBe(1);
    expect(counts([sent()], recorded({ runs: [row, row] })).different).toBe(1);
  });

  test("a session must hold exactly what was sent, in order, and the model must have seen it", () => {
    const session = { id: "s", index: 0 };
    const messages = ["user: hello", "assistant: hello | after 0 |"];
    const sessions = (messages: string[]) => recorded({ sessions: new Map([["s", messages]]) });
    expect(counts([sent({ session })], sessions(messages))).toEqual(clean);
    for (const wrong of [[], messages.toReversed(), [...messages, ...messages]])
      expect(counts([sent({ session })], sessions(wrong)).outOfOrder).toBe(1);
    expect(counts([sent({ session: { id: "s", index: 1 } })], sessions(messages)).outOfOrder).toBe(1);
  });
});

describe("model calls beyond faults", () => {
  const call = (atMs: number, step = 1, requestId = "req_1") => ({ requestId, step, atMs });
  const fault = { name: "SIGKILL of a worker", interruptions: [{ fromMs: 500, untilMs: 510 }] };
  const beyond = (calls: ReturnType<typeof call>[], faults = [fault]) =>
    countCalls(calls, [sent()], faults).beyondFaults.length;

  test("one call for each step is none", () => expect(beyond([call(100), call(300, 2)])).toBe(0));
  test("the step in flight may be repeated once", () => expect(beyond([call(400), call(600)])).toBe(0));
  test("but not twice by one fault", () => expect(beyond([call(400), call(600), call(700)])).toBe(1));
  test("nor without a fault", () => expect(beyond([call(400), call(600)], [])).toBe(1));
  test("nor by a fault that cannot cut off a step", () =>
    expect(beyond([call(400), call(600)], [{ name: "Valkey", interruptions: [] }])).toBe(1));
  test("nor if both calls came before it or after it", () => {
    expect(beyond([call(300), call(400)])).toBe(1);
    expect(beyond([call(600), call(700)])).toBe(1);
  });
  test("nor if the next step had begun, or the answer been given", () => {
    expect(beyond([call(300), call(400, 2), call(600)])).toBe(1);
    expect(countCalls([call(100), call(600)], [sent({ answeredAtMs: 400 })], [fault]).beyondFaults).toHaveLength(1);
  });
  test("nor for more runs than were in flight at one moment", () => {
    const long = { name: "Restate node", interruptions: [{ fromMs: 500, untilMs: 2000 }] };
    const calls = [call(490), call(510), call(700, 1, "req_2"), call(800, 1, "req_2")];
    const other = (answeredAtMs: number) => sent({ answeredAtMs, answers: [{ requestId: "req_2", response: "" }] });
    expect(countCalls(calls, [sent({ answeredAtMs: 600 }), other(900)], [long]).beyondFaults).toHaveLength(1);
    expect(countCalls(calls, [sent({ answeredAtMs: 750 }), other(900)], [long]).beyondFaults).toHaveLength(0);
  });
  test("every call of a run whose id no client received counts", () =>
    expect(beyond([call(100), call(200, 1, "req_2"), call(300, 2, "req_2")])).toBe(2));
});
