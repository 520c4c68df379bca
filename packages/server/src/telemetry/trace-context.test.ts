import { describe, expect, test } from "vitest";
import { newSpanId, newTraceId, parseTraceparent, spanIdOf } from "./trace-context.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";

describe("traceparent", () => {
  test.each([
    ["version 0", `00-${traceId}-${parentId}-01`, true],
    ["not sampled", `00-${traceId}-${parentId}-00`, false],
    ["other flags beside", `00-${traceId}-${parentId}-03`, true],
    ["a later version with more fields", `01-${traceId}-${parentId}-01-more`, true],
  ])("%s is accepted", (_, header, sampled) => {
    expect(parseTraceparent(header)).toEqual({ traceId, parentId, sampled });
  });

  test.each([
    ["no header", undefined],
    ["an empty one", ""],
    ["upper case", `00-${traceId.toUpperCase()}-${parentId}-01`],
    ["a trace of zeros", `00-${"0".repeat(32)}-${parentId}-01`],
    ["a parent of zeros", `00-${traceId}-${"0".repeat(16)}-01`],
    ["version ff", `ff-${traceId}-${parentId}-01`],
    ["more fields in version 0", `00-${traceId}-${parentId}-01-more`],
    ["an id too short", `00-${traceId.slice(1)}-${parentId}-01`],
    ["no flags", `00-${traceId}-${parentId}`],
  ])("%s is ignored", (_, header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });
});

describe("ids", () => {
  test("the same parts make the same span id, different parts a different one", () => {
    expect(spanIdOf("run", "model 1", 0, 1)).toBe(spanIdOf("run", "model 1", 0, 1));
    const ids = [
      spanIdOf("run"),
      spanIdOf("run", "model 1", 0, 1),
      spanIdOf("run", "model 1", 0, 2),
      spanIdOf("other"),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/);
  });

  test("new ones have the right length and differ", () => {
    expect(newTraceId()).toMatch(/^[0-9a-f]{32}$/);
    expect(newSpanId()).toMatch(/^[0-9a-f]{16}$/);
    expect(newTraceId()).not.toBe(newTraceId());
  });
});
