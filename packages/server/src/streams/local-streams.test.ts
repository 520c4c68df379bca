import { expect, test } from "vitest";
import { createLocalStreams } from "./local-streams.ts";
import type { RunStreams } from "./run-streams.ts";

/** The number of stored events of a run. */
async function countEvents(streams: RunStreams, runId: string): Promise<number> {
  const stop = new AbortController();
  const reader = streams.read(runId, undefined, stop.signal);
  const page = reader.next();
  setTimeout(() => stop.abort(), 20);
  return (await page).value?.length ?? 0;
}

test("a stream expires 15 minutes after its last event, two minutes after its end", async () => {
  let nowMs = 1_800_000_000_000;
  const streams = createLocalStreams(() => nowMs);
  const tool = { type: "tool", step: 1, call: 1, name: "t", attempt: 1, status: "started" } as const;
  for (const runId of ["running", "ended"]) await streams.append(runId, tool);
  nowMs += 14 * 60_000;
  await streams.append("running", tool);
  await streams.append("ended", { type: "end" });
  nowMs += 60_000;
  expect([await countEvents(streams, "running"), await countEvents(streams, "ended")]).toEqual([2, 2]);
  nowMs += 2 * 60_000;
  expect([await countEvents(streams, "running"), await countEvents(streams, "ended")]).toEqual([2, 0]);
  nowMs += 13 * 60_000;
  expect(await countEvents(streams, "running")).toBe(0);
});

test("the least recently used run is evicted, by count and by size", async () => {
  const few = createLocalStreams(Date.now, { maxRuns: 2 });
  const small = createLocalStreams(Date.now, { maxBytesOfAll: 1000 });
  for (const streams of [few, small]) {
    for (const runId of ["1", "2", "3", "4", "5"]) await streams.append(runId, { type: "end" });
    expect(await countEvents(streams, "1")).toBe(0);
    expect(await countEvents(streams, "5")).toBe(1);
  }
});

test("a reader continues in a stream that expired and began again", async () => {
  const streams = createLocalStreams(Date.now, { maxRuns: 1 });
  const stop = new AbortController();
  const reader = streams.read("run", undefined, stop.signal);
  await streams.append("run", { type: "end" });
  expect((await reader.next()).value).toHaveLength(1);
  await streams.append("other", { type: "end" });
  await streams.append("run", { type: "end" });
  expect((await reader.next()).value).toHaveLength(1);
  stop.abort();
});
