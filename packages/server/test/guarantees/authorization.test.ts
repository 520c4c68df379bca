import { type Operation, type OperationKey, operations, type Permission, permissions } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { buildRequest } from "../support/contract-client.ts";
import { usePerch } from "../support/harness.ts";

const perch = usePerch();

/**
 * The permission that each operation needs: null if any valid key will do, "public" if no key is needed. It repeats the
 * contract on purpose: a change of a permission, or a new operation, must change this list too.
 */
const reviewedPermissions = {
  "GET /v1/agents": "read",
  "POST /v1/agents": "write",
  "GET /v1/agents/{agent_id}": "read",
  "PATCH /v1/agents/{agent_id}": "write",
  "DELETE /v1/agents/{agent_id}": "delete",
  "POST /v1/agents/{agent_id}/pause": "write",
  "POST /v1/agents/{agent_id}/resume": "write",

  "POST /v1/agents/{agent_id}/invoke": "invoke",
  "GET /v1/agents/{agent_id}/invocations": "read",
  "GET /v1/invocations": "read",
  "GET /v1/agents/{agent_id}/invocations/{request_id}": "read",
  "GET /v1/agents/{agent_id}/invocations/{request_id}/steps": "read",
  "POST /v1/agents/{agent_id}/invocations/{request_id}/cancel": "write",

  "GET /v1/approvals": "read",
  "GET /v1/approvals/{approval_id}": "read",
  "POST /v1/approvals/{approval_id}/approve": "approve",
  "POST /v1/approvals/{approval_id}/reject": "approve",
  "POST /v1/approvals/{approval_id}/answer": "approve",
  "POST /v1/agents/{agent_id}/connections": "write",
  "GET /v1/agents/{agent_id}/connections": "read",
  "GET /v1/agents/{agent_id}/connections/{connection_id}": "read",
  "POST /v1/agents/{agent_id}/connections/{connection_id}/confirm": "write",
  "POST /v1/agents/{agent_id}/connections/{connection_id}/revoke": "write",

  "POST /v1/agents/{agent_id}/check": "write",
  "GET /v1/agents/{agent_id}/deployments": "read",
  "GET /v1/deployments": "read",
  "POST /v1/agents/{agent_id}/deployments": "write",
  "GET /v1/agents/{agent_id}/deployments/{deployment_id}": "read",
  "PATCH /v1/agents/{agent_id}/deployments/{deployment_id}": "write",
  "POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote": "write",
  "POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort": "write",
  "POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback": "write",
  "GET /v1/agents/{agent_id}/versions": "read",
  "GET /v1/agents/{agent_id}/versions/{version}": "read",
  "GET /v1/agents/{agent_id}/versions/{version}/diff": "read",

  "GET /v1/agents/{agent_id}/logs": "read",
  "POST /v1/agents/{agent_id}/logs": "write",
  "GET /v1/agents/{agent_id}/metrics": "read",
  "GET /v1/metrics": "read",

  "GET /v1/agents/{agent_id}/memory": "read",
  "POST /v1/agents/{agent_id}/memory": "write",
  "DELETE /v1/agents/{agent_id}/memory": "delete",
  "POST /v1/agents/{agent_id}/memory/search": "read",
  "GET /v1/agents/{agent_id}/memory/status": "read",
  "GET /v1/agents/{agent_id}/memory/{memory_id}": "read",
  "DELETE /v1/agents/{agent_id}/memory/{memory_id}": "delete",
  "GET /v1/agents/{agent_id}/memory/clears/{clear_id}": "read",

  "GET /v1/webhooks": "read",
  "POST /v1/webhooks": "write",
  "GET /v1/webhooks/{webhook_id}": "read",
  "PATCH /v1/webhooks/{webhook_id}": "write",
  "DELETE /v1/webhooks/{webhook_id}": "delete",
  "POST /v1/webhooks/{webhook_id}/rotate": "write",
  "POST /v1/webhooks/{webhook_id}/test": "write",
  "POST /v1/webhooks/{webhook_id}/redeliver": "write",
  "GET /v1/webhooks/{webhook_id}/deliveries": "read",
  "GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}": "read",
  "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": "write",
  "GET /v1/events": "read",
  "GET /v1/events/{event_id}": "read",

  "GET /v1/models": "read",
  "GET /v1/providers": "read",
  "POST /v1/providers": "manage",
  "GET /v1/providers/{provider_name}": "read",
  "PATCH /v1/providers/{provider_name}": "manage",
  "DELETE /v1/providers/{provider_name}": "manage",

  "GET /v1/secrets": "read",
  "POST /v1/secrets": "manage",
  "GET /v1/secrets/{secret_name}": "read",
  "PATCH /v1/secrets/{secret_name}": "manage",
  "DELETE /v1/secrets/{secret_name}": "manage",
  "GET /v1/agents/{agent_id}/secrets": "read",
  "POST /v1/agents/{agent_id}/secrets": "manage",
  "GET /v1/agents/{agent_id}/secrets/{secret_name}": "read",
  "PATCH /v1/agents/{agent_id}/secrets/{secret_name}": "manage",
  "DELETE /v1/agents/{agent_id}/secrets/{secret_name}": "manage",

  "GET /v1/keys": "manage",
  "GET /v1/keys/{key_id}": "manage",
  "POST /v1/keys": "manage",
  "PATCH /v1/keys/{key_id}": "manage",
  "DELETE /v1/keys/{key_id}": "manage",
  "POST /v1/keys/{key_id}/rotate": "manage",
  "POST /v1/keys/{key_id}/begin-mfa": "manage",
  "POST /v1/keys/revoke-leaked": "public",
  "GET /v1/organisation": "read",
  "PATCH /v1/organisation": "manage",
  "GET /v1/audit-log": "manage",
  "DELETE /v1/users/{user_id}/data": "manage",
  "GET /v1/console/sign-in-methods": "public",
  "POST /v1/console/sessions": "public",
  "POST /v1/console/links": null,
  "GET /v1/console/sessions": null,
  "DELETE /v1/console/sessions/{session_id}": null,
  "GET /v1/installation": "operate",
  "GET /v1/erasures": "manage",
  "GET /v1/erasures/{erasure_id}": "manage",

  "GET /v1/me": null,
  "POST /v1/mfa": null,
  "POST /v1/mfa/confirm": null,
  "POST /v1/mfa/step-up": null,
  "POST /v1/mfa/remove": null,
} as const satisfies Record<OperationKey, Operation["permission"]>;

const reviewed = Object.entries(reviewedPermissions) as [OperationKey, Operation["permission"]][];
const withPermission = reviewed.filter(
  (entry): entry is [OperationKey, Permission] => entry[1] !== null && entry[1] !== "public",
);
const withAnyKey = reviewed.filter(([, permission]) => permission === null);
const withoutKey = reviewed.filter(([, permission]) => permission === "public");

test("every operation of the contract has the permission that was reviewed, and no other operation exists", () => {
  const stated = Object.entries(operations).map(([key, { permission }]: [string, Operation]) => [key, permission]);
  expect(Object.fromEntries(stated)).toEqual(reviewedPermissions);
});

async function requestWithKey(key: OperationKey, apiKey: string | undefined) {
  const { path, init } = buildRequest(key, {});
  const response = await fetch(perch().url + path, {
    ...init,
    ...(apiKey && { headers: { authorization: `Bearer ${apiKey}` } }),
  });
  const body = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: body.error?.code };
}

describe.each([...withPermission, ...withAnyKey])("%s", (key) => {
  test("401 without a key", async () => {
    verifies("auth.missing-key-401");
    expect(await requestWithKey(key, undefined)).toEqual({ status: 401, code: "unauthorized" });
  });
});

/** Operations that a key with `invoke` may use for the runs that it started itself. */
const forOwnRuns: readonly OperationKey[] = [
  "GET /v1/agents/{agent_id}/invocations/{request_id}",
  "POST /v1/agents/{agent_id}/invocations/{request_id}/cancel",
];

test("`invoke` is enough for own runs where that was reviewed, and nowhere else", () => {
  const stated = Object.entries(operations).filter(([, { ownRuns }]: [string, Operation]) => ownRuns);
  expect(stated.map(([key]) => key)).toEqual(forOwnRuns);
});

/** `write` includes `invoke`. */
const sufficient = (key: OperationKey, permission: Permission): Permission[] =>
  permission === "invoke" || forOwnRuns.includes(key) ? [permission, "invoke", "write"] : [permission];

describe.each(withPermission)("%s", (key, permission) => {
  const enough = [...new Set(sufficient(key, permission))];
  test(`403 with every permission but ${enough.join(", ")}, and no 403 with one of these alone`, async () => {
    verifies("auth.permission-403", "permissions.agents", "permissions.keys", "permissions.invoke");
    const { createKey } = await perch().createOrganisation();
    const others = permissions.filter((other) => !enough.includes(other));
    expect(await requestWithKey(key, await createKey({ permissions: others }))).toEqual({
      status: 403,
      code: "forbidden",
    });
    for (const one of enough) {
      const { status } = await requestWithKey(key, await createKey({ permissions: [one] }));
      expect([401, 403]).not.toContain(status);
    }
  });
});

describe.each(withAnyKey)("%s", (key) => {
  test("no 403 with any one permission", async () => {
    const { createKey } = await perch().createOrganisation();
    for (const permission of permissions) {
      const { status } = await requestWithKey(key, await createKey({ permissions: [permission] }));
      expect([401, 403]).not.toContain(status);
    }
  });
});

describe.each(withoutKey)("%s", (key) => {
  test("neither 401 nor 403 without a key", async () => {
    expect([401, 403]).not.toContain((await requestWithKey(key, undefined)).status);
  });
});
