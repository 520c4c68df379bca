import { expect, test } from "vitest";
import { agentCount } from "./agent-count.ts";

test("a filtered list shows how many of all agents it has", () => {
  expect(agentCount(7, { matching: 7, isNarrowed: false, isWhole: true })).toBe("7 agents");
  expect(agentCount(1, { matching: 1, isNarrowed: false, isWhole: true })).toBe("1 agent");
  expect(agentCount(7, { matching: 0, isNarrowed: true, isWhole: true })).toBe("0 of 7 agents");
});

test("a count is not shown as final before all pages are searched", () => {
  expect(agentCount(900, { matching: 3, isNarrowed: true, isWhole: false })).toBe("at least 3 of 900 agents");
});
