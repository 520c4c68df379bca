import { expect, test } from "vitest";
import { agentCount } from "./agent-count.ts";

test("a list that is narrowed says how many of all agents it shows", () => {
  expect(agentCount(7, { matching: 7, isNarrowed: false, isWhole: true })).toBe("7 agents");
  expect(agentCount(1, { matching: 1, isNarrowed: false, isWhole: true })).toBe("1 agent");
  expect(agentCount(7, { matching: 0, isNarrowed: true, isWhole: true })).toBe("0 of 7 agents");
});

test("it does not say that a number is final before all pages were looked through", () => {
  expect(agentCount(900, { matching: 3, isNarrowed: true, isWhole: false })).toBe("at least 3 of 900 agents");
});
