import { describe, expect, test } from "vitest";
import type { SentRequest } from "./clients.ts";
import type { Recorded, RecordedRun } from "./database-records.ts";
import { addMoves, type LeaderMove } from "./engine-leaders.ts";
import { countCalls, type Interruption } from "./model-calls.ts";
import { readClusterState } from "./partition-leaders.ts";
import { OutlivingSlots } from "./slot-watch.ts";
import { starvedTimes } from "./starvation.ts";
import { compareThroughput } from "./throughput.ts";
import { compare } from "./verdict.ts";

const sent = (extra: Partial<SentRequest> = {}): SentRequest => ({
  key: "key",
  agent: "chaos",
  message: "hello",
  session: undefined,
  sentAtMs: 0,
  answers: [{ requestId: "req_1", response: "hello | after 0 |" }],
  answeredAtMs: 1000,
  attempts: 1,
  lastRefusal: "",
  ...extra,
});
const row: RecordedRun = {
  id: "1",
  requestId: "req_1",
  agent: "chaos",
  status: "completed",
  message: "hello",
  response: "hello | after 0 |",
  steps: 2,
  tokens: 3,
  log: ["ended", "model_call", "model_call", "tool_call"],
  events: 1,
  deliveries: [],
};
const sums = (runs: number, agent = "chaos") =>
  ["hour", "minute"].map((granularity) => ({ agent, granularity, runs, tokens: 3 * runs }));
const recorded = (extra: Partial<Recorded> = {}): Recorded => ({
  runs: [row],
  sessions: new Map(),
  sums: sums(1),
  largestBatch: 1,
  ...extra,
});
const counts = (items: SentRequest[], records: Recorded) => {
  const { lost, different, outOfOrder } = compare(items, records);
  return { lost: lost.length, different: different.length, outOfOrder: outOfOrder.length };
};
const clean = { lost: 0, different: 0, outOfOrder: 0 };

describe("the observations of clients against the records", () => {
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

  test("a session must contain exactly the messages that were sent, in order, and the model must have seen them", () => {
    const session = { id: "s", index: 0 };
    const messages = ["user: hello", "assistant: hello | after 0 |"];
    const sessions = (messages: string[]) => recorded({ sessions: new Map([["s", messages]]) });
    expect(counts([sent({ session })], sessions(messages))).toEqual(clean);
    for (const wrong of [[], messages.toReversed(), [...messages, ...messages]])
      expect(counts([sent({ session })], sessions(wrong)).outOfOrder).toBe(1);
    expect(counts([sent({ session: { id: "s", index: 1 } })], sessions(messages)).outOfOrder).toBe(1);
  });
});

describe("the records of a run", () => {
  const unlike = (records: Partial<Recorded>, received: string[] = []) =>
    compare([sent()], recorded(records), new Set(received)).unlikeRuns;
  const withRun = (extra: Partial<RecordedRun>) => unlike({ runs: [{ ...row, ...extra }] });

  test("its log lines, event and sums are clean", () => expect(unlike({})).toEqual([]));

  test("a log line too many or too few is found", () => {
    expect(withRun({ log: [...row.log, "tool_call"] })).toHaveLength(1);
    expect(withRun({ log: row.log.slice(1) })).toHaveLength(1);
    expect(withRun({ log: [...row.log, "interrupted"] })).toEqual([]);
  });

  test("no event, or two, is found", () => {
    expect(withRun({ events: 0 })).toHaveLength(1);
    expect(withRun({ events: 2 })).toHaveLength(1);
  });

  test("sums that count a run twice, not at all, or only in one granularity are found", () => {
    expect(unlike({ sums: sums(2) })).toHaveLength(2);
    expect(unlike({ sums: [] })).toHaveLength(2);
    expect(unlike({ sums: sums(1).slice(1) })).toHaveLength(1);
  });

  test("a run with a webhook has one delivery, which has ended and was received", () => {
    const agent = "chaos-with-webhook";
    const deliveries = (list: string[], received = ["req_1"]) =>
      unlike({ runs: [{ ...row, agent, deliveries: list }], sums: sums(1, agent) }, received).length;
    expect(deliveries(["delivered"])).toBe(0);
    for (const wrong of [[], ["pending"], ["delivered", "delivered"]]) expect(deliveries(wrong)).toBe(1);
    expect(deliveries(["delivered"], [])).toBe(1);
    expect(withRun({ deliveries: ["delivered"] })).not.toEqual([]);
  });
});

describe("model calls beyond faults", () => {
  const call = (atMs: number, step = 1, requestId = "req_1") => ({ requestId, step, atMs });
  const kill: Interruption = { cause: "SIGKILL of a worker", fromMs: 500, untilMs: 510 };
  const partitions = new Map([
    ["req_1", 1],
    ["req_2", 1],
  ]);
  const beyond = (calls: ReturnType<typeof call>[], interruptions = [kill], items = [sent()]) =>
    countCalls(calls, items, interruptions, partitions).beyondFaults.length;

  test("one call for each step is none", () => expect(beyond([call(100), call(300, 2)])).toBe(0));
  test("the step in flight may be repeated once", () => expect(beyond([call(400), call(600)])).toBe(0));
  test("but not twice by one fault", () => expect(beyond([call(400), call(600), call(700)])).toBe(1));
  test("nor without a fault", () => expect(beyond([call(400), call(600)], [])).toBe(1));
  test("a move of the run's partition may repeat it, a move of another may not", () => {
    expect(beyond([call(400), call(600)], [{ ...kill, partition: 1 }])).toBe(0);
    expect(beyond([call(400), call(600)], [{ ...kill, partition: 2 }])).toBe(1);
  });
  test("nor if both calls came before it or after it", () => {
    expect(beyond([call(300), call(400)])).toBe(1);
    expect(beyond([call(600), call(700)])).toBe(1);
  });
  test("nor if the next step had begun, or the answer been given", () => {
    expect(beyond([call(300), call(400, 2), call(600)])).toBe(1);
    expect(beyond([call(100), call(600)], [kill], [sent({ answeredAtMs: 400 })])).toBe(1);
  });
  test("except after an answer that was read from the record, which commits before the engine knows of the step's end", () => {
    const answers = [{ requestId: "req_1", response: "hello", isReplayed: true }];
    expect(beyond([call(100), call(600)], [kill], [sent({ answeredAtMs: 400, answers })])).toBe(0);
    expect(beyond([call(100), call(600), call(700)], [kill], [sent({ answeredAtMs: 400, answers })])).toBe(1);
  });
  test("nor for more runs than were in flight at one moment", () => {
    const move = { cause: "move", partition: 1, fromMs: 500, untilMs: 2000 };
    const calls = [call(490), call(510), call(700, 1, "req_2"), call(800, 1, "req_2")];
    const other = (answeredAtMs: number) => sent({ answeredAtMs, answers: [{ requestId: "req_2", response: "" }] });
    expect(beyond(calls, [move], [sent({ answeredAtMs: 600 }), other(900)])).toBe(1);
    expect(beyond(calls, [move], [sent({ answeredAtMs: 750 }), other(900)])).toBe(0);
  });
  test("every call of a run whose id no client received counts", () =>
    expect(beyond([call(100), call(200, 1, "req_2"), call(300, 2, "req_2")])).toBe(2));
});

describe("moves of the engine's leaders", () => {
  const view = (partition: number, epoch: number) => ({ node: 1, partition, epoch, isLeader: true });

  test("each new epoch of a partition is a move, seen between two looks at it", () => {
    const moves: LeaderMove[] = [];
    const shown = new Map();
    addMoves([view(0, 2), view(1, 2)], 10_000, shown, moves);
    addMoves([view(0, 2), view(1, 2)], 11_000, shown, moves);
    expect(moves).toEqual([]);
    addMoves([view(0, 2), view(1, 4), view(1, 3)], 12_000, shown, moves);
    // The information of a node may be five seconds old.
    const twice = { partition: 1, fromMs: 6000, untilMs: 14_000 };
    expect(moves).toEqual([twice, twice]);
    addMoves([view(1, 3)], 13_000, shown, moves);
    expect(moves).toHaveLength(2);
  });

  test("the cluster state is read from the engine's protobuf", () => {
    const message = (...fields: [number, number | Buffer][]): Buffer =>
      Buffer.concat(
        fields.map(([number, value]) =>
          typeof value === "number"
            ? Buffer.from([number * 8, (value % 128) + 128, Math.floor(value / 128)])
            : Buffer.concat([Buffer.from([number * 8 + 2, value.length]), value]),
        ),
      );
    const status = message([2, 1], [3, 1], [4, message([1, 300])]);
    const alive = message([3, message([1, 5], [2, status])], [4, 17]);
    const state = message(
      [4, message([1, 2], [2, message([1, alive])])],
      [4, message([1, 3], [2, message([2, Buffer.alloc(0)])])],
    );
    expect(readClusterState(message([1, state]))).toEqual([{ node: 2, partition: 5, epoch: 300, isLeader: true }]);
  });
});

describe("times in which the machine was taken away", () => {
  test("are joined if they follow each other, and last until the engine may have noticed", () => {
    const starved = (atMs: number) => ({ atMs, stolen: 0.4 });
    const calm = { atMs: 5000, stolen: 0.2 };
    expect(starvedTimes([starved(1000), starved(3000), calm, starved(20_000)])).toEqual([
      { fromMs: 0, untilMs: 8000 },
      { fromMs: 19_000, untilMs: 25_000 },
    ]);
  });
});

describe("slots without a run", () => {
  const none = new Set<string>();
  const see = (slots: OutlivingSlots, atSeconds: number, withoutRun: string[], neverBegun = none) =>
    slots.add({ atMs: atSeconds * 1000, withoutRun }, neverBegun);

  test("are found once, after more than 10 s without a run in every sample", () => {
    const slots = new OutlivingSlots();
    for (const at of [0, 5, 10]) see(slots, at, ["run"]);
    expect(slots.found).toEqual([]);
    for (const at of [11, 12]) see(slots, at, ["run"]);
    expect(slots.found).toHaveLength(1);
  });

  test("are not those that were free in between, or that a store did not report", () => {
    const slots = new OutlivingSlots();
    for (const at of [0, 9]) see(slots, at, ["run"]);
    see(slots, 10, []);
    see(slots, 11, ["run"]);
    slots.forget();
    see(slots, 25, ["run"]);
    expect(slots.found).toEqual([]);
  });

  test("may stay occupied for longer if an API node died before it handed the run over", () => {
    const slots = new OutlivingSlots();
    for (const at of [0, 44, 46]) see(slots, at, ["run"], new Set(["run"]));
    expect(slots.found).toHaveLength(1);
    expect(slots.longestSeconds()).toBe(0);
  });
});

test("throughput after a fault is compared with the usual rate before it, if pauses are long enough", () => {
  const answers = (fromMs: number, count: number) =>
    Array.from({ length: count }, (_, i) => sent({ answeredAtMs: fromMs + i * 10 }));
  const faults = [20_000, 70_000, 120_000].map((burstAtMs, i) => ({
    name: `fault ${i + 1}`,
    burstAtMs,
    fromMs: burstAtMs + 500,
    repairedMs: burstAtMs + 20_000,
  }));
  const ratios = (before: readonly number[], after: readonly number[], pauseSeconds = 16) =>
    compareThroughput(
      faults.flatMap(({ burstAtMs, repairedMs }, i) => [
        ...answers(burstAtMs - 10_000, before[i] ?? 0),
        ...answers(repairedMs + 6000, after[i] ?? 0),
      ]),
      faults,
      pauseSeconds,
    ).map(({ ratio }) => ratio);
  expect(ratios([100, 120, 90], [100, 50, 90])).toEqual([1, 0.5, 0.9]);
  // A lasting loss does not become the usual rate.
  expect(ratios([100, 10, 10], [10, 10, 10])).toEqual([0.1, 0.1, 0.1]);
  expect(ratios([100, 120, 90], [100, 50, 90], 3)).toEqual([]);
});
