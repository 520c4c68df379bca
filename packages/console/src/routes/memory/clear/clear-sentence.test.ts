import { expect, test } from "vitest";
import { clearSentence, toLimits } from "./clear-sentence.ts";

const none = { user: undefined, session: undefined, before: undefined };
const say = (limits: Partial<Parameters<typeof clearSentence>[1]>) =>
  clearSentence("support", { ...none, ...limits }, (at) => at.toISOString().slice(0, 10));

test("names whose memories go, and that the others stay", () => {
  expect(say({ user: "customer-1007" })).toBe(
    "All memories and session messages of user customer-1007 of agent support will be deleted. Memories of other users stay.",
  );
  expect(say({ user: "anna", session: "chat-1" })).toContain("of user anna in session chat-1 of agent support");
  expect(say({ before: new Date("2026-03-01") })).toBe(
    "All memories and session messages of agent support that were last stored before 2026-03-01 will be deleted. Memories that are newer stay.",
  );
});

test("without a limit, reports that the memories of all users go", () => {
  expect(say({})).toContain("of all its users");
  expect(say({})).not.toContain("stay");
});

test("clears the user and session that were given, with the spaces of their ids", () => {
  expect(toLimits({ user: " 42", session: "", before: "" })).toEqual({ ...none, user: " 42" });
});
