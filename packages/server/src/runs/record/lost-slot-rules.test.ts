import { expect, test } from "vitest";
import { stateOfPart } from "./lost-slots.ts";

test.each([
  ["r", undefined, "unknown"],
  ["r", { status: "running", cut: 0 }, "under_way"],
  ["r", { status: "completed", cut: 0 }, "over"],
  ["r", { status: "failed", cut: 0 }, "over"],
  ["r", { status: "cancelled", cut: 0 }, "over"],
  // It waits since its first cut, and the continuation has just taken its slot.
  ["r", { status: "waiting", cut: 1 }, "over"],
  ["r.1", { status: "waiting", cut: 1 }, "under_way"],
  ["r.1", { status: "running", cut: 1 }, "under_way"],
  ["r.1", { status: "waiting", cut: 2 }, "over"],
  ["r.1", { status: "completed", cut: 1 }, "over"],
] as const)("the slot of %s, whose run is recorded as %j, is %s", (part, row, expected) =>
  expect(stateOfPart(part, row)).toBe(expected),
);
