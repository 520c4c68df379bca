import {
  type Operation,
  type OperationKey,
  operationKeys,
  operations,
  type Permission,
  permissions,
} from "@perch/contract";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../spec/verifies.ts";
import { buildRequest } from "../support/contract-client.ts";
import { usePerch } from "../support/harness.ts";

const perch = usePerch();

/** Operations that any valid key may call. A new one must be added here on purpose. */
const openToAnyKey: readonly OperationKey[] = [
  "GET /v1/me",
  "POST /v1/mfa",
  "POST /v1/mfa/confirm",
  "POST /v1/mfa/step-up",
  "POST /v1/mfa/remove",
];
/** Operations that need no key at all. */
const withoutKey: readonly OperationKey[] = ["POST /v1/keys/revoke-leaked"];
const guarded = operationKeys.filter((key) => !withoutKey.includes(key));

async function requestWithKey(key: OperationKey, apiKey: string | undefined) {
  const { path, init } = buildRequest(key, {});
  const response = await fetch(perch().url + path, {
    ...init,
    ...(apiKey && { headers: { authorization: `Bearer ${apiKey}` } }),
  });
  const body = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: body.error?.code };
}

describe.each(guarded)("%s", (key) => {
  const { permission }: Operation = operations[key];

  test("is not public", () => {
    expect(permission).not.toBe("public");
  });

  test("401 without a key", async () => {
    verifies("auth.missing-key-401");
    expect(await requestWithKey(key, undefined)).toEqual({ status: 401, code: "unauthorized" });
  });

  test("403 with every permission but its own, and no 403 with its own alone", async () => {
    verifies("auth.permission-403", "permissions.agents", "permissions.keys");
    const { createKey } = await perch().createOrganisation();
    if (permission === null) {
      expect(openToAnyKey).toContain(key);
      return;
    }
    const others = permissions.filter((other: Permission) => other !== permission);
    expect(await requestWithKey(key, await createKey({ permissions: others }))).toEqual({
      status: 403,
      code: "forbidden",
    });
    const { status } = await requestWithKey(key, await createKey({ permissions: [permission] }));
    expect([401, 403]).not.toContain(status);
  });
});

test("the tests above cover every operation", () => {
  expect(operationKeys.length).toBeGreaterThanOrEqual(11);
});
