import type { AuditEntry } from "@perch/sdk";
import { expect, test } from "vitest";
import { sentenceOf } from "./entry-phrase.ts";

const entry = (fields: Partial<AuditEntry>): AuditEntry => ({
  id: "aud_1",
  created_at: "2026-01-31T12:00:00.000Z",
  actor: "key",
  key_id: "key_1",
  user_id: null,
  person: null,
  session_id: null,
  operation: "updateAgent",
  resource_type: "agent",
  resource: "agent_1",
  agent_id: "agent_1",
  address: "203.0.113.7",
  correlation_id: "corr_1",
  outcome: "changed",
  details: {},
  ...fields,
});

const textOf = (fields: Partial<AuditEntry>): string => {
  const { did, what, resource, ofAgent, tail } = sentenceOf(entry(fields));
  return [did, what, resource, ofAgent && `of ${ofAgent}`, tail].filter(Boolean).join(" ");
};

test.each([
  [{}, "updated the agent agent_1"],
  [{ operation: "createDeployment", resource: "dep_1" }, "created the deployment dep_1 of agent_1"],
  [{ operation: "rollbackDeployment", resource: "dep_1" }, "rolled back to the deployment dep_1 of agent_1"],
  [
    { actor: "system", operation: "rollBackCanary", resource: "dep_1" },
    "rolled back the deployment dep_1 of agent_1 because it broke its guards",
  ],
  [{ operation: "clearMemory", resource: "clear_1" }, "cleared the memory of agent_1"],
  [
    { operation: "rotateWebhookSecret", resource: "wh_1", agent_id: null },
    "rotated the signing secret of the webhook wh_1",
  ],
  [
    { operation: "set-organisation", resource: "org_1", agent_id: null },
    "changed the settings of the organisation org_1",
  ],
  [{ operation: "set-tier", resource: "org_1", agent_id: null }, "changed the tier of the organisation org_1"],
  [
    { operation: "eraseUser", resource: "erasure_1", agent_id: null },
    "requested the erasure erasure_1 of a user's data",
  ],
  [{ operation: "createConsoleSession", resource: "cse_1", agent_id: null }, "signed in to the console"],
  [{ operation: "enrolMfa", resource: null, agent_id: null }, "enrolled a second factor of an API key"],
] as const)("%j is told as: %s", (fields, text) => {
  expect(textOf(fields)).toBe(text);
});

test("a refused creation names nothing, because nothing was made", () => {
  expect(textOf({ operation: "createAgent", outcome: "refused", resource: "support", agent_id: null })).toBe(
    "was not allowed to create an agent",
  );
});

test("an operation of a newer server is told from its id, also one that is called like a part of every object", () => {
  expect(textOf({ operation: "archiveReport", resource: "rep_1", agent_id: null })).toBe("archived the report rep_1");
  expect(textOf({ operation: "constructor", resource: "x", agent_id: null })).toContain("constructored");
});
