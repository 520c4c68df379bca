import { describe, expect, test } from "vitest";
import { runResource } from "../../runs/run-resource.ts";
import type { Counts } from "../erasure-stage.ts";
import { addCounts, maxWaitMs, nextWaitMs, receiptOf } from "./erasure-rules.ts";

describe("the wait of an erasure for what is under way", () => {
  test("begins with 2 seconds, grows with the time waited, and never passes a minute", () => {
    expect([0, 20_000, 100_000, 600_000, maxWaitMs].map(nextWaitMs)).toEqual([2000, 2000, 10_000, 60_000, 60_000]);
  });
});

describe("the receipt of an erasure", () => {
  const { receipt } = runResource.erasure;
  const openCalls = (counts: Counts) =>
    receiptOf(receipt, counts).expires.filter(({ data }) => data.includes("had not ended"));

  test("lists calls that were not waited for any longer, with their number", () => {
    const counts = addCounts(addCounts({}, { engine_sent: 2 }), { engine_sent_left: 3 });
    expect(openCalls(counts)).toMatchObject([{ store: "engine", data: expect.stringMatching(/: 3$/) }]);
    expect(receiptOf(receipt, counts).removed.find(({ data }) => data.startsWith("calls"))?.count).toBe(2);
  });

  test("does not mention such calls if all have ended", () => {
    expect(openCalls(addCounts({}, { engine_sent: 2, engine_sent_left: 0 }))).toEqual([]);
  });
});
