import { expect, test } from "vitest";
import type { RunResult } from "../../engine/messages.ts";
import { newUuid, toPublicId } from "../../platform/ids.ts";
import type { ServerEvent } from "../../resources/handlers.ts";
import type { RunStreams, StoredEvent } from "../../streams/run-streams.ts";
import { readRunEvents } from "./follow-run.ts";

const runId = newUuid();
const token = (id: string, offset: number, text: string): StoredEvent => ({
  id,
  event: { type: "token", step: 1, offset, text },
});
const stored = [token("5-1", 0, "Hel"), token("5-2", 3, "lo"), { id: "5-3", event: { type: "end" } } as const];

const completed: RunResult = { status: "completed", response: "Hello", steps: 1, tokensUsed: 2, durationMs: 3 };

async function follow(
  lastEventId: string | undefined,
  events: readonly StoredEvent[] = stored,
  showsContents = true,
  result: RunResult = completed,
): Promise<ServerEvent[]> {
  const read: RunStreams["read"] = async function* () {
    yield events;
    yield [];
  };
  const following = { runId, location: "/v1/run", lastEventId, signal: new AbortController().signal, showsContents };
  const deps = { streams: { read } as RunStreams, findResult: async () => result };
  const seen: ServerEvent[] = [];
  for await (const event of readRunEvents(deps, following)) seen.push(event);
  return seen;
}
const idsOf = (events: readonly ServerEvent[]) => events.map(({ id }) => id);

test("a client that reconnects gets the events it has not seen, and the end", async () => {
  expect(idsOf(await follow(undefined))).toEqual(["5-1", "5-2", "end"]);
  expect(idsOf(await follow("5-1"))).toEqual(["5-2", "end"]);
  expect(idsOf(await follow("5-2"))).toEqual(["end"]);
  expect(idsOf(await follow("rest"))).toEqual(["end"]);
  expect(idsOf(await follow("end"))).toEqual(["end"]);
});

test("a final answer that stands in the stream is not sent, because only the record has answers", async () => {
  const forged = { id: "5-2", event: { type: "done", response: "false" } } as unknown as StoredEvent;
  const events = await follow(undefined, [token("5-1", 0, "Hello"), forged, ...stored.slice(2)]);
  expect(events.map(({ event }) => event)).toEqual(["token", "done"]);
  expect(events.at(-1)?.data).toMatchObject({ response: "Hello" });
});

test("text that is missing in the stream is sent at the end", async () => {
  expect((await follow(undefined, stored.slice(0, 1).concat(stored.slice(2)))).at(-2)).toEqual({
    id: "rest",
    event: "token",
    data: { step: 1, offset: 3, text: "lo" },
  });
});

test("an unknown id, as after the loss of the stream, replaces the text of the client by the whole text", async () => {
  const events = await follow("9-9");
  expect(events.map(({ id, data }) => [id, (data as { offset?: number }).offset])).toEqual([
    ["rest", 0],
    ["end", undefined],
  ]);
});

test.each(["", "x", "1-2-3", "9".repeat(15_000), "-1-0", "1e3-0"])(
  "%.20j is not an id: all events are sent",
  async (id) => {
    expect(idsOf(await follow(id))).toEqual(["5-1", "5-2", "end"]);
  },
);

test("the output of a tool is for readers who may see it; the others learn that it answered", async () => {
  const about = { step: 1, call: 1, name: "stock", attempt: 1, status: "completed" } as const;
  const events = [{ id: "5-1", event: { type: "tool", ...about, output: "12 packets" } } as const, ...stored.slice(2)];
  const dataOf = async (showsContents: boolean) =>
    JSON.parse(JSON.stringify((await follow(undefined, events, showsContents))[0]?.data));
  expect(await dataOf(true)).toEqual({ ...about, output: "12 packets" });
  expect(await dataOf(false)).toEqual(about);
});

const approvalId = newUuid();
const waiting: RunResult = {
  status: "waiting",
  cut: 1,
  actions: [{ id: approvalId, kind: "tool", tool: "refund", step: 1, call: 2 }],
  steps: 1,
  tokensUsed: 2,
  durationMs: 3,
};
const followWaiting = (lastEventId: string | undefined, events?: readonly StoredEvent[]) =>
  follow(lastEventId, events, true, waiting);

test("a run that waits ends its stream with the required actions, whenever a client reconnects", async () => {
  const [, , required] = await followWaiting(undefined);
  expect(required).toEqual({
    id: "5-3",
    event: "action_required",
    data: {
      request_id: toPublicId("request", runId),
      message: expect.stringContaining(`/v1/approvals/${toPublicId("approval", approvalId)}`) as string,
      approvals: [{ id: toPublicId("approval", approvalId), kind: "tool", tool: "refund", step: 1, call: 2 }],
    },
  });
  expect(await followWaiting("5-3")).toEqual([required]);
});

test("the id of the required action leads to the events after it, even if the stream has expired", async () => {
  const later = [token("7-1", 0, "Hel"), token("7-2", 3, "lo"), { id: "7-3", event: { type: "end" } } as const];
  const waited = [token("5-1", 0, "I ask."), { id: "5-2", event: { type: "end" } } as const];
  expect(idsOf(await follow("5-2", [...waited, ...later]))).toEqual(["7-1", "7-2", "end"]);
  // Cut again: the marker of the first time does not end it.
  const again = await followWaiting("5-2", [...waited, ...later]);
  expect(idsOf(again)).toEqual(["7-1", "7-2", "7-3"]);
  expect(again.at(-1)?.event).toBe("action_required");
  for (const [lastEventId, id] of [
    ["5-2", "5-2"],
    [undefined, "0-0"],
    ["end", "0-0"],
  ] as const) {
    expect(idsOf(await followWaiting(lastEventId, []))).toEqual([id]);
    expect(idsOf(await follow(id, later))).toEqual(["7-1", "7-2", "rest", "end"]);
  }
});
