import { type Operation, type OperationKey, operationKeys, operations } from "@perch/contract";
import { startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildRequest, ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { insertWaitingRun } from "../support/stored-approvals.ts";
import { signUserToken, userTokenSecret } from "../support/user-tokens.ts";

const script = await startScriptServer(() => ({ reply: "alices-answer" }));
const perch = usePerch({ scriptModelUrl: script.url }, { withWorker: true });
afterAll(() => script.close());

const auth = { type: "jwt" as const, secret: userTokenSecret };
const message = "alices-message";

type Parts = Parameters<typeof buildRequest>[1];
interface Sent {
  readonly status: number;
  readonly text: string;
  readonly data: { readonly id: string; readonly request_id: string };
}

let organisation: Organisation;
/** As an application has it for its users. */
let key: string;
let managing: string;
let approving: string;
let ids: Record<string, string>;

async function as(user: string, operation: OperationKey, parts: Parts = {}, apiKey = key, more = {}): Promise<Sent> {
  const { path, init } = buildRequest(operation, { ...parts, params: { agent_id: "private", ...parts.params } });
  const headers = {
    ...(init.headers as Record<string, string>),
    authorization: `Bearer ${apiKey}`,
    "x-user-token": signUserToken(user),
    ...more,
  };
  const response = await fetch(perch().url + path, { ...init, headers });
  const text = await response.text();
  return { status: response.status, text, data: (JSON.parse(text) as { data: Sent["data"] }).data };
}

async function asAlice(operation: OperationKey, parts: Parts = {}): Promise<Sent["data"]> {
  const { status, text, data } = await as("alice", operation, parts);
  if (status >= 300) throw new Error(`${operation}: ${text}`);
  return data;
}

const waitForEvent = async (): Promise<string> => {
  for (;;) {
    const events = (await asAlice("GET /v1/events", { query: { agent_id: "private" } })) as unknown as Sent["data"][];
    if (events[0]) return events[0].id;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

beforeAll(async () => {
  organisation = await perch().createOrganisation();
  const { call, createKey } = organisation;
  const body = { name: "private", model: "perch/script", auth, logs: "full" as const };
  ok(await call("POST /v1/agents", { body }));
  const webhook = { url: "https://hooks.example/perch", events: ["agent.completed" as const] };
  const webhook_id = (await asManager("POST /v1/webhooks", { body: webhook })).data.id;
  key = await createKey({ permissions: ["read", "write", "delete"] });
  approving = await createKey({ permissions: ["read", "approve"] });
  const run = await asAlice("POST /v1/agents/{agent_id}/invoke", { body: { message } });
  const memory = await asAlice("POST /v1/agents/{agent_id}/memory", { body: { content: message } });
  const clear = await asAlice("DELETE /v1/agents/{agent_id}/memory", { query: { session_id: "none" } });
  const waiting = await insertWaitingRun(perch(), organisation, { agent: "private", userId: "alice", message });
  const event_id = await waitForEvent();
  const deliveries = await asAlice("GET /v1/webhooks/{webhook_id}/deliveries", { params: { webhook_id } });
  ids = {
    webhook_id,
    request_id: run.request_id,
    memory_id: memory.id,
    clear_id: clear.id,
    approval_id: waiting.approvals[0] ?? "",
    event_id,
    delivery_id: (deliveries as unknown as Sent["data"][])[0]?.id ?? "",
  };
});

/** A key with `manage`, and a user who is not alice. */
async function asManager(operation: OperationKey, parts: Parts = {}): Promise<Sent> {
  managing ??= await organisation.createKey({ permissions: ["read", "write", "manage"] });
  return as("operator", operation, parts, managing);
}

const isRead = (operation: OperationKey): boolean =>
  operation.startsWith("GET ") || (operations[operation] as Operation).readOnly === true;

const byId: readonly (readonly [OperationKey, Parts])[] = [
  ["GET /v1/agents/{agent_id}/invocations/{request_id}", {}],
  ["GET /v1/agents/{agent_id}/invocations/{request_id}/steps", {}],
  ["GET /v1/agents/{agent_id}/logs", {}],
  ["GET /v1/agents/{agent_id}/memory/{memory_id}", {}],
  ["GET /v1/agents/{agent_id}/memory/clears/{clear_id}", {}],
  ["GET /v1/approvals/{approval_id}", {}],
  ["GET /v1/events/{event_id}", {}],
  ["GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}", {}],
  ["POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", {}],
  ["POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", {}],
  [
    "POST /v1/agents/{agent_id}/logs",
    { body: { entries: [{ level: "info", message: "forged", request_id: "the run" }] } },
  ],
  // Last, because it removes the memory.
  ["DELETE /v1/agents/{agent_id}/memory/{memory_id}", {}],
];

const partsOf = (operation: OperationKey, parts: Parts = {}): Parts => ({
  params: ids,
  query: operation.endsWith("/logs") && isRead(operation) ? { request_id: ids.request_id } : {},
  body: JSON.parse((JSON.stringify(parts.body) ?? "null").replace("the run", ids.request_id ?? "")) ?? undefined,
});

describe("where a token names the user", () => {
  test("no read shows a user what belongs to another", async () => {
    const shownTo = async (user: string): Promise<string[]> => {
      const shown: string[] = [];
      for (const operation of operationKeys.filter(isRead)) {
        const query = operation.endsWith("/diff") ? { to: "v1" } : {};
        const body = operation.startsWith("GET ") ? undefined : { query: message };
        const { text } = await as(user, operation, { params: ids, query, body });
        if (text.includes("alice")) shown.push(operation);
      }
      return shown;
    };
    expect(await shownTo("mallory")).toEqual([]);
    expect((await shownTo("alice")).length).toBeGreaterThan(10);
  });

  test.each(byId)("%s of another user is 404", async (operation, parts) => {
    const answer = await as("mallory", operation, partsOf(operation, parts));
    expect(answer).toMatchObject({ status: 404 });
  });

  test.each(byId.filter(([operation]) => isRead(operation)))(
    "%s of another user is shown with the permission manage",
    async (operation, parts) => {
      expect(await asManager(operation, partsOf(operation, parts))).toMatchObject({ status: 200 });
    },
  );

  test("the streams of a run and of its log are closed to other users", async () => {
    for (const path of [`/invocations/${ids.request_id}`, `/logs?request_id=${ids.request_id}`]) {
      const follow = (user: string) =>
        fetch(`${perch().url}/v1/agents/private${path}`, {
          headers: {
            authorization: `Bearer ${key}`,
            "x-user-token": signUserToken(user),
            accept: "text/event-stream",
          },
          signal: AbortSignal.timeout(5000),
        });
      const own = await follow("alice");
      expect(own.status).toBe(200);
      await own.body?.cancel();
      expect((await follow("mallory")).status).toBe(404);
    }
  });

  test("the log without a run needs the permission manage", async () => {
    expect((await as("alice", "GET /v1/agents/{agent_id}/logs")).status).toBe(403);
    expect((await asManager("GET /v1/agents/{agent_id}/logs")).text).toContain(ids.request_id);
  });

  const naming: readonly (readonly [OperationKey, Parts])[] = [
    ["GET /v1/agents/{agent_id}/memory", { query: { user_id: "alice" } }],
    ["DELETE /v1/agents/{agent_id}/memory", { query: { user_id: "alice" } }],
    ["POST /v1/agents/{agent_id}/memory", { body: { content: "poison", user_id: "alice" } }],
    ["POST /v1/agents/{agent_id}/memory/search", { body: { query: "q", user_id: "alice" } }],
    ["POST /v1/agents/{agent_id}/invoke", { body: { message: "hi", context: { user_id: "alice" } } }],
    ["GET /v1/invocations", { query: { agent_id: "private", user_id: "alice" } }],
    ["GET /v1/approvals", { query: { agent_id: "private", user_id: "alice" } }],
  ];
  test.each(naming)("%s that names another user is 403", async (operation, parts) => {
    expect((await as("mallory", operation, parts)).status).toBe(403);
    expect((await as("alice", operation, parts)).status).toBeLessThan(300);
  });

  test("lists over all agents show a user their own, and leave out what belongs to others", async () => {
    ok(await organisation.call("POST /v1/agents", { body: { name: "open", model: "perch/echo" } }));
    const { run } = await insertWaitingRun(perch(), organisation, { agent: "open", userId: "carol" });
    const lists: OperationKey[] = ["GET /v1/invocations", "GET /v1/approvals", "GET /v1/events"];
    for (const operation of lists) {
      expect((await as("alice", operation)).text, operation).toContain('"user_id":"alice"');
      const others = await as("mallory", operation);
      expect(others.status, operation).toBe(200);
      expect(others.text, operation).not.toContain("alice");
      // The other agent asks for no token, and a token for one agent changes nothing at another.
      if (operation !== "GET /v1/events") expect(others.text, operation).toContain(run);
    }
    expect(JSON.parse((await as("mallory", "GET /v1/approvals")).text)).toMatchObject({ open: { count: 1 } });
    expect(JSON.parse((await as("alice", "GET /v1/approvals")).text)).toMatchObject({ open: { count: 2 } });
  });

  test("whoever may approve sees the approvals of all users, and decides", async () => {
    const { approvals } = await insertWaitingRun(perch(), organisation, { agent: "private", userId: "alice" });
    const params = { approval_id: approvals[0] ?? "" };
    expect((await as("bob", "GET /v1/approvals/{approval_id}", { params }, approving)).status).toBe(200);
    expect((await as("bob", "POST /v1/approvals/{approval_id}/approve", { params, body: {} }, approving)).status).toBe(
      200,
    );
  });

  test("a memory that names no user is the user's own", async () => {
    const { id } = await asAlice("POST /v1/agents/{agent_id}/memory", { body: { content: "unnamed" } });
    const { text } = await as("alice", "GET /v1/agents/{agent_id}/memory");
    expect(JSON.parse(text).data).toContainEqual(expect.objectContaining({ id, user_id: "alice" }));
    expect(JSON.parse((await as("mallory", "GET /v1/agents/{agent_id}/memory")).text).data).toEqual([]);
  });

  test("clearing the memory clears the user's own", async () => {
    const { id: memory_id } = await asAlice("POST /v1/agents/{agent_id}/memory", { body: { content: "stays" } });
    expect((await as("mallory", "DELETE /v1/agents/{agent_id}/memory")).status).toBe(200);
    await asAlice("GET /v1/agents/{agent_id}/memory/{memory_id}", { params: { memory_id } });
  });

  test("another user does not get the kept answer of an Idempotency-Key", async () => {
    const parts = { body: { content: "kept answer" } };
    const retry = { "idempotency-key": "one" };
    const operation = "POST /v1/agents/{agent_id}/memory";
    const first = await as("alice", operation, parts, key, retry);
    expect((await as("mallory", operation, parts, key, retry)).status).toBe(409);
    expect((await as("alice", operation, parts, key, retry)).text).toBe(first.text);
  });
});
