import { expect, test } from "vitest";
import { titleProblem } from "./commit-titles.ts";

test.each([
  ["runs: release the slot when the engine refuses", undefined],
  ["sdk-python: add the types of approvals", undefined],
  ["Release the slot", "not `area: verb object`, in lower case"],
  ["runs: Release the slot", "not `area: verb object`, in lower case"],
  ["runs: release", "not `area: verb object`, in lower case"],
  [`runs: release ${"x".repeat(60)}`, "74 characters, at most 72"],
])("%s: %s", (title, problem) => {
  expect(titleProblem(title)).toBe(problem);
});
