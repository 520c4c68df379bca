import { expect, test } from "vitest";
import { judgeRuns } from "./judge-runs.ts";

const ada = { userId: "user-1", login: "ada" };
const bob = { userId: "user-2", login: "bob" };
const run = (note: string, person: typeof ada, answer = person.login, status = 200) => ({
  note,
  person,
  status,
  answer,
});
const call = (note: string, user: string) => ({ user, arguments: { note } });

test("runs that each called with their own account are right", () => {
  const runs = [run("a", ada), run("b", bob)];
  expect(judgeRuns(runs, [call("b", "bob"), call("a", "ada")])).toEqual({ mixedUp: [], failed: [] });
});

test.each([
  ["a call with the account of another", [run("a", ada), run("b", bob)], [call("a", "bob"), call("b", "bob")]],
  [
    "an answer from the account of another",
    [run("a", ada, "bob"), run("b", bob)],
    [call("a", "ada"), call("b", "bob")],
  ],
  ["a second call with the account of another", [run("a", ada), run("b", bob)], [call("a", "ada"), call("a", "bob")]],
])("%s is mixed up", (_, runs, calls) => {
  expect(judgeRuns(runs, calls).mixedUp).toHaveLength(1);
});

test.each([
  ["failed", [run("a", ada, "The tool failed.", 422)], [call("a", "ada")]],
  ["read that the user must connect", [run("a", ada, "Connect first.")], []],
  ["never called its tool", [run("a", ada)], []],
  ["called it twice", [run("a", ada)], [call("a", "ada"), call("a", "ada")]],
])("a run that %s is not right", (_, runs, calls) => {
  expect(judgeRuns(runs, calls)).toEqual({ mixedUp: [], failed: [expect.stringContaining("a:")] });
});
