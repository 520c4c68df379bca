import type { Webhook } from "@perch/sdk";
import { expect, test } from "vitest";
import { draftOf, follow, newDraft, toCreate, toUpdate } from "./webhook-draft.ts";

const draft = draftOf({
  url: "https://hooks.example/a",
  agent_id: null,
  events: ["agent.failed", "agent.completed"],
  headers: { authorization: "Bearer {{secret.token}}" },
  approval_links: false,
} as unknown as Webhook);

test("an update has only the changed fields", () => {
  expect(toUpdate(draft, draft)).toEqual({});
  expect(toUpdate(draft, { ...draft, events: ["agent.failed", "agent.completed"] })).toEqual({});
  expect(toUpdate(draft, { ...draft, url: "https://hooks.example/b" })).toEqual({ url: "https://hooks.example/b" });
  expect(toUpdate(draft, { ...draft, headers: [] })).toEqual({ headers: {} });
});

test("untouched fields take another user's changes, and saving again does not revert them", () => {
  const mine = { ...draft, url: "https://hooks.example/b" };
  const theirs = { ...draft, url: "https://hooks.example/c", headers: [] };
  const next = follow(draft, mine, theirs);
  expect(next).toEqual({ ...mine, headers: [] });
  expect(toUpdate(theirs, next)).toEqual({ url: "https://hooks.example/b" });
});

test("a webhook is created without fields that the user has not set", () => {
  const body = toCreate({ ...newDraft(""), url: "https://a.example", headers: [{ key: 0, name: " ", value: "" }] });
  expect(body).toEqual({ url: "https://a.example", events: ["agent.completed", "agent.failed"], headers: {} });
  expect(toCreate({ ...newDraft("support"), approvalLinks: true })).toMatchObject({
    agent_id: "support",
    approval_links: true,
  });
});
