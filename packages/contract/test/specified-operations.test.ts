import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Operation, type OperationKey, operationKeys, operations, type Permission } from "../src/index.ts";

// The server answers as the contract says, and most tests check the answers against the contract. So what was specified or
// decided is written out here and in specified-values.test.ts: a contract that departs from it fails.
const single = ["success", "data"];
const list = ["data", "pagination"];

interface Specified {
  readonly permission: Permission;
  readonly status: number;
  readonly envelope: readonly string[];
  readonly query?: readonly string[];
  readonly body?: readonly string[];
}

const fieldsOf = (schema: z.ZodType | undefined): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];

/** The contract may take more parameters than the specification names. */
function expectOperation(key: OperationKey, expected: Specified): void {
  const { permission, status, response, query, body }: Operation = operations[key];
  expect(permission).toBe(expected.permission);
  expect(status).toBe(expected.status);
  expect(fieldsOf(response)).toEqual(expected.envelope);
  expect(fieldsOf(query)).toEqual(expect.arrayContaining([...(expected.query ?? [])]));
  expect(fieldsOf(body)).toEqual(expect.arrayContaining([...(expected.body ?? [])]));
}

describe("the contract has the specified permission, parameters, status and envelope of", () => {
  test("POST /v1/agents/{agent_id}/invoke", () => {
    verifies("operations.invoke-agent", "permissions.invoke");
    expectOperation("POST /v1/agents/{agent_id}/invoke", {
      permission: "write",
      status: 200,
      envelope: single,
      body: ["message", "context"],
    });
  });

  test("GET /v1/agents", () => {
    verifies("operations.list-agents", "permissions.agents");
    expectOperation("GET /v1/agents", {
      permission: "read",
      status: 200,
      envelope: list,
      query: ["limit", "offset", "sort"],
    });
  });

  test("GET /v1/agents/{agent_id}", () => {
    verifies("operations.get-agent", "permissions.agents");
    expectOperation("GET /v1/agents/{agent_id}", { permission: "read", status: 200, envelope: single });
  });

  test("PATCH /v1/agents/{agent_id}", () => {
    verifies("operations.update-agent", "responses.update-agent", "permissions.agents");
    expectOperation("PATCH /v1/agents/{agent_id}", {
      permission: "write",
      status: 200,
      envelope: single,
      body: ["model", "temperature"],
    });
  });

  test("DELETE /v1/agents/{agent_id}", () => {
    verifies("operations.delete-agent", "responses.delete-agent", "permissions.agents");
    expectOperation("DELETE /v1/agents/{agent_id}", { permission: "delete", status: 200, envelope: single });
  });

  test("POST /v1/agents/{agent_id}/deployments", () => {
    verifies("operations.create-deployment", "responses.create-deployment", "permissions.deployments");
    expectOperation("POST /v1/agents/{agent_id}/deployments", {
      permission: "write",
      status: 201,
      envelope: single,
      body: ["environment", "version"],
    });
  });

  test("GET /v1/agents/{agent_id}/deployments", () => {
    verifies(
      "operations.list-deployments",
      "responses.list-deployments",
      "permissions.deployments",
      "lists.deployments-parameters",
    );
    expectOperation("GET /v1/agents/{agent_id}/deployments", {
      permission: "read",
      status: 200,
      envelope: list,
      query: ["limit", "offset", "sort", "environment", "status"],
    });
  });

  test("POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback", () => {
    verifies("operations.rollback-deployment", "responses.rollback-deployment", "permissions.deployments");
    expectOperation("POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback", {
      permission: "write",
      status: 201,
      envelope: single,
    });
  });

  test("GET /v1/agents/{agent_id}/logs", () => {
    verifies("operations.get-logs", "permissions.logs-and-metrics");
    expectOperation("GET /v1/agents/{agent_id}/logs", {
      permission: "read",
      status: 200,
      envelope: list,
      query: ["level", "start_time", "end_time", "limit"],
    });
  });

  test("GET /v1/agents/{agent_id}/metrics", () => {
    verifies("operations.get-metrics", "permissions.logs-and-metrics");
    expectOperation("GET /v1/agents/{agent_id}/metrics", {
      permission: "read",
      status: 200,
      envelope: single,
      query: ["metric", "start_time", "end_time", "granularity"],
    });
  });

  test("POST /v1/agents/{agent_id}/memory/search", () => {
    verifies("operations.search-memory", "responses.search-memory", "permissions.memory");
    expectOperation("POST /v1/agents/{agent_id}/memory/search", {
      permission: "read",
      status: 200,
      envelope: [...list, "search"],
      body: ["query", "limit"],
    });
  });

  test("DELETE /v1/agents/{agent_id}/memory", () => {
    verifies("operations.clear-memory", "responses.clear-memory", "permissions.memory");
    expectOperation("DELETE /v1/agents/{agent_id}/memory", { permission: "delete", status: 200, envelope: single });
  });

  test("POST /v1/webhooks", () => {
    verifies("operations.create-webhook", "responses.create-webhook", "permissions.webhooks");
    expectOperation("POST /v1/webhooks", {
      permission: "write",
      status: 201,
      envelope: single,
      body: ["agent_id", "url", "events"],
    });
  });

  test("GET /v1/webhooks", () => {
    verifies(
      "operations.list-webhooks",
      "responses.list-webhooks",
      "permissions.webhooks",
      "lists.webhooks-parameters",
    );
    expectOperation("GET /v1/webhooks", {
      permission: "read",
      status: 200,
      envelope: list,
      query: ["limit", "offset", "sort", "agent_id", "status"],
    });
  });

  test("DELETE /v1/webhooks/{webhook_id}", () => {
    verifies("operations.delete-webhook", "responses.delete-webhook", "permissions.webhooks");
    expectOperation("DELETE /v1/webhooks/{webhook_id}", { permission: "delete", status: 200, envelope: single });
  });

  test("POST /v1/keys", () => {
    verifies("operations.create-key", "responses.create-key", "permissions.keys");
    expectOperation("POST /v1/keys", {
      permission: "manage",
      status: 201,
      envelope: single,
      body: ["agent_id", "name", "permissions"],
    });
  });

  test("GET /v1/keys", () => {
    verifies("operations.list-keys", "responses.list-keys", "permissions.keys", "lists.keys-parameters");
    expectOperation("GET /v1/keys", {
      permission: "manage",
      status: 200,
      envelope: list,
      query: ["limit", "offset", "sort", "agent_id", "status"],
    });
  });

  test("DELETE /v1/keys/{key_id}", () => {
    verifies("operations.revoke-key", "responses.revoke-key", "permissions.keys");
    expectOperation("DELETE /v1/keys/{key_id}", { permission: "manage", status: 200, envelope: single });
  });
});

/** What an envelope has beside the fields of all: how a search was made, and how much of a list is open. */
const besideEnvelope: Readonly<Partial<Record<OperationKey, readonly string[]>>> = {
  "POST /v1/agents/{agent_id}/memory/search": ["search"],
  "GET /v1/approvals": ["open"],
};

test("every operation answers in one of the two envelopes", () => {
  verifies("responses.single-envelope", "responses.list-envelope");
  expect(operationKeys.length).toBeGreaterThan(60);
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

test("the operations beyond the specification's eighteen need the permissions that were decided", () => {
  verifies("permissions.agents", "permissions.keys");
  const permissionOf = (key: OperationKey): Operation["permission"] => operations[key].permission;
  expect(permissionOf("GET /v1/approvals/{approval_id}")).toBe("read");
  for (const verb of ["approve", "reject", "answer"] as const)
    expect(permissionOf(`POST /v1/approvals/{approval_id}/${verb}`)).toBe("approve");
  expect(permissionOf("GET /v1/agents/{agent_id}/connections")).toBe("read");
  expect(permissionOf("POST /v1/agents/{agent_id}/connections")).toBe("write");
  for (const verb of ["confirm", "revoke"] as const)
    expect(permissionOf(`POST /v1/agents/{agent_id}/connections/{connection_id}/${verb}`)).toBe("write");
  expect(permissionOf("POST /v1/agents")).toBe("write");
  expect(permissionOf("POST /v1/agents/{agent_id}/pause")).toBe("write");
  expect(permissionOf("POST /v1/agents/{agent_id}/resume")).toBe("write");
  expect(permissionOf("GET /v1/audit-log")).toBe("manage");
  const ofKeys = operationKeys.filter((key) => / \/v1\/keys\b/.test(key));
  expect(ofKeys).toHaveLength(8);
  for (const key of ofKeys) expect(permissionOf(key), key).toBe(key.endsWith("/revoke-leaked") ? "public" : "manage");
});

test("secrets are read with `read`, created, changed and deleted with `manage`, and answered without a value", () => {
  verifies("secrets.permissions", "secrets.write-only");
  const ofSecrets = operationKeys.filter((key) => /\/secrets(\/|$)/.test(key));
  expect(ofSecrets).toHaveLength(10);
  const shown = ["name", "agent_id", "hosts", "created_by", "created_at", "updated_by", "updated_at", "last_used_at"];
  for (const key of ofSecrets) {
    const { permission, response, agents, secretBody }: Operation = operations[key];
    expect(permission, key).toBe(key.startsWith("GET ") ? "read" : "manage");
    expect(agents, key).toBe(key.includes("{agent_id}") ? undefined : "none");
    expect(secretBody, key).toBe(/^(POST|PATCH)/.test(key) ? true : undefined);
    const { data } = (response as z.ZodObject).shape as { data: z.ZodType };
    const item = data instanceof z.ZodArray ? (data.element as z.ZodType) : data;
    expect(fieldsOf(item), key).toEqual(key.startsWith("DELETE") ? ["name", "deleted"] : shown);
  }
});
