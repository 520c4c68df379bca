import { expect, test } from "vitest";
import { operationKeys } from "../../packages/contract/src/index.ts";
import { Perch } from "../../packages/sdk/src/index.ts";
import { methodNames } from "./method-names.ts";

/** The operation that a request is for. A part of a path that is written out goes before one that is filled in. */
function operationOf(method: string, path: string): string | undefined {
  const pattern = (key: string) => new RegExp(`^${key.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  const isWritten = (key: string) => key === `${method} ${path}`;
  return operationKeys.find(isWritten) ?? operationKeys.find((key) => pattern(key).test(`${method} ${path}`));
}

function recordingClient() {
  const called = new Set<string>();
  const fetch = async (url: unknown, init: RequestInit = {}) => {
    const { pathname } = new URL(String(url));
    called.add(operationOf(init.method ?? "GET", pathname) ?? `unknown: ${init.method} ${pathname}`);
    const page = { limit: 1, offset: 0, total: 0, has_more: false };
    return Response.json({ success: true, data: init.method === "POST" ? { response: "" } : [], pagination: page });
  };
  return {
    perch: new Perch({ baseUrl: "http://perch.test", apiKey: "k", fetch: fetch as typeof globalThis.fetch }),
    called,
  };
}

const methodsOf = (namespace: object): string[] => {
  const own = Object.getPrototypeOf(namespace) as object;
  const generated = Object.getPrototypeOf(own) as object;
  return [own, generated]
    .flatMap((prototype) => (prototype === Object.prototype ? [] : Object.getOwnPropertyNames(prototype)))
    .filter((name) => name !== "constructor");
};

test("every operation of the contract has a method, and every method calls an operation", async () => {
  const { perch, called } = recordingClient();
  const namespaces = perch as unknown as Record<string, Record<string, (...args: string[]) => unknown>>;
  const places = Object.values(methodNames).filter((place) => place !== "account.me");
  for (const place of places) {
    const [namespace = "", method = ""] = place.split(".");
    await namespaces[namespace]?.[method]?.("a", "b", "c", "d");
  }
  await perch.me();
  expect([...called].toSorted()).toEqual(operationKeys.toSorted());
  expect(operationKeys.length).toBeGreaterThan(50);
});

test("no method is without its operation", () => {
  const { perch } = recordingClient();
  const beside = new Set([
    "agents.invokeStream",
    "agents.invokeInBackground",
    "runs.follow",
    "runs.wait",
    "deployments.deployAndWait",
    "logs.follow",
    "events.follow",
  ]);
  const found = Object.entries(perch).flatMap(([name, namespace]) =>
    methodsOf(namespace).map((method) => `${name}.${method}`),
  );
  const known = new Set<string>(Object.values(methodNames));
  expect(found.filter((place) => !known.has(place) && !beside.has(place))).toEqual([]);
  expect(found.length).toBe(known.size - 1 + beside.size);
});

test("any operation can be asked for by its route, with its answer as it came", async () => {
  const { perch, called } = recordingClient();
  await perch.request("GET /v1/me");
  await perch.request("DELETE /v1/agents/{agent_id}", { params: { agent_id: "a b/c" } });
  const { status, body } = await perch.send("GET /v1/agents", { query: { limit: 1 } });
  expect(status).toBe(200);
  expect(body.pagination.has_more).toBe(false);
  expect([...called]).toEqual(["GET /v1/me", "DELETE /v1/agents/{agent_id}", "GET /v1/agents"]);
  // @ts-expect-error: no such route
  await perch.request("GET /v1/nothing").catch(() => undefined);
  // @ts-expect-error: agent_id is missing
  await expect(perch.request("GET /v1/agents/{agent_id}", {})).rejects.toThrow("agent_id");
  // @ts-expect-error: no such filter
  await perch.agents.list({ colour: "red" });
});

test("a value that no request could contain is refused before anything is sent", async () => {
  const { perch, called } = recordingClient();
  for (const idempotencyKey of ["", "a b", "grüße", "a\n"])
    await expect(perch.agents.pause("bot", { idempotencyKey })).rejects.toThrow("visible ASCII");
  for (const wrong of ["", "..", undefined as unknown as string])
    await expect(perch.agents.delete(wrong)).rejects.toThrow("agent_id must be a non-empty string");
  expect(called.size).toBe(0);
});
