import { verifies } from "@perch/testkit/verifies.ts";
import { expect, test } from "vitest";
import { z } from "zod";
import { type Operation, type OperationKey, operationKeys, operations } from "../src/index.ts";

// The server enforces the contract, and its tests compare with the contract. So what was decided is written out here.

const usual = { GET: "read", POST: "write", PATCH: "write", DELETE: "delete" };

const otherPermissions: readonly (readonly [Operation["permission"], readonly OperationKey[]])[] = [
  ["read", ["POST /v1/agents/{agent_id}/memory/search"]],
  [
    "approve",
    [
      "POST /v1/approvals/{approval_id}/approve",
      "POST /v1/approvals/{approval_id}/reject",
      "POST /v1/approvals/{approval_id}/answer",
    ],
  ],
  [
    "manage",
    [
      "POST /v1/keys",
      "GET /v1/keys",
      "GET /v1/keys/{key_id}",
      "DELETE /v1/keys/{key_id}",
      "PATCH /v1/keys/{key_id}",
      "POST /v1/keys/{key_id}/rotate",
      "POST /v1/keys/{key_id}/begin-mfa",
      "POST /v1/providers",
      "PATCH /v1/providers/{provider_name}",
      "DELETE /v1/providers/{provider_name}",
      "POST /v1/secrets",
      "PATCH /v1/secrets/{secret_name}",
      "DELETE /v1/secrets/{secret_name}",
      "POST /v1/agents/{agent_id}/secrets",
      "PATCH /v1/agents/{agent_id}/secrets/{secret_name}",
      "DELETE /v1/agents/{agent_id}/secrets/{secret_name}",
      "PATCH /v1/organisation",
      "GET /v1/audit-log",
      "DELETE /v1/users/{user_id}/data",
      "GET /v1/erasures",
      "GET /v1/erasures/{erasure_id}",
    ],
  ],
  ["invoke", ["POST /v1/agents/{agent_id}/invoke"]],
  ["operate", ["GET /v1/installation"]],
  ["public", ["POST /v1/keys/revoke-leaked", "GET /v1/console/sign-in-methods", "POST /v1/console/sessions"]],
  [
    null,
    [
      "GET /v1/me",
      "POST /v1/mfa",
      "POST /v1/mfa/confirm",
      "POST /v1/mfa/step-up",
      "POST /v1/mfa/remove",
      "POST /v1/console/links",
      "GET /v1/console/sessions",
      "DELETE /v1/console/sessions/{session_id}",
    ],
  ],
];

test("every operation needs the permission of its method, or the one that was decided for it", () => {
  verifies("permissions.agents", "permissions.keys", "secrets.permissions");
  expect(operationKeys.length).toBeGreaterThan(90);
  const decided = new Map(otherPermissions.flatMap(([permission, keys]) => keys.map((key) => [key, permission])));
  for (const key of operationKeys) {
    const method = key.slice(0, key.indexOf(" ")) as keyof typeof usual;
    const expected = decided.has(key) ? decided.get(key) : usual[method];
    expect(operations[key].permission, key).toBe(expected);
  }
});

/** The fields of an envelope beside those of all: how a search was made, and how much of a list is open. */
const besideEnvelope: Readonly<Partial<Record<OperationKey, readonly string[]>>> = {
  "POST /v1/agents/{agent_id}/memory/search": ["search"],
  "GET /v1/approvals": ["open"],
};

test("every operation answers in one of the two envelopes", () => {
  verifies("responses.single-envelope", "responses.list-envelope");
  for (const key of operationKeys) {
    const { response, accepted }: Operation = operations[key];
    for (const schema of [response, ...(accepted ? [accepted] : [])]) {
      const { success, data, pagination, ...others } = (schema as z.ZodObject).shape as Record<string, z.ZodType>;
      expect(Object.keys(others), key).toEqual(besideEnvelope[key] ?? []);
      expect(data instanceof z.ZodArray, key).toBe(pagination !== undefined);
      if (pagination) expect(success, key).toBeUndefined();
      else
        expect(
          [true, false, undefined].map((value) => success?.safeParse(value).success),
          key,
        ).toEqual([true, false, false]);
    }
  }
});
