import { expect, test } from "vitest";
import type { ServerEvent } from "../handlers.ts";
import { newUuid } from "../platform/ids.ts";
import type { RunStreams, StoredEvent } from "../streams/run-streams.ts";
import { followRun } from "./follow-run.ts";

const runId = newUuid();
const token = (id: string, offset: number, text: string): StoredEvent => ({
  id,
  event: { type: "token", step: 1, offset, text },
});
const stored = [token("5-1", 0, "Hel"), token("5-2", 3, "lo"), { id: "5-3", event: { type: "end" } } as const];

async function follow(
  lastEventId: string | undefined,
  events: readonly StoredEvent[] = stored,
): Promise<ServerEvent[]> {
  const read: RunStreams["read"] = async function* () {
    yield events;
    yield [];
  };
  const outcome = { status: "completed", response: "Hello", steps: 1, tokensUsed: 2, durationMs: 3 } as const;
  const following = { runId, lastEventId, signal: new AbortController().signal };
  const deps = { streams: { read } as RunStreams, findOutcome: async () => outcome };
  const seen: ServerEvent[] = [];
  for await (const event of followRun(deps, following)) seen.push(event);
  return seen;
}
const idsOf = (events: readonly ServerEvent[]) => events.map(({ id }) => id);

test("a client that comes back gets what it has not seen, and the end", async () => {
  expect(idsOf(await follow(undefined))).toEqual(["5-1", "5-2", "end"]);
  expect(idsOf(await follow("5-1"))).toEqual(["5-2", "end"]);
  expect(idsOf(await follow("5-2"))).toEqual(["end"]);
  expect(idsOf(await follow("rest"))).toEqual(["end"]);
  expect(idsOf(await follow("end"))).toEqual(["end"]);
});

test("what the stream did not bring comes at the end", async () => {
  expect((await follow(undefined, stored.slice(0, 1).concat(stored.slice(2)))).at(-2)).toEqual({
    id: "rest",
    event: "token",
    data: { step: 1, offset: 3, text: "lo" },
  });
});

test("an id that the stream does not know, as after its loss, leads to the whole text in its place", async () => {
  const events = await follow("9-9");
  expect(events.map(({ id, data }) => [id, (data as { offset?: number }).offset])).toEqual([
    ["rest", 0],
    ["end", undefined],
  ]);
});

test.each(["", "x", "1-2-3", "9".repeat(15_000), "-1-0", "1e3-0"])("%.20j is no id: everything comes", async (id) => {
  expect(idsOf(await follow(id))).toEqual(["5-1", "5-2", "end"]);
});
