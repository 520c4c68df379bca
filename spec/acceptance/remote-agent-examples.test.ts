import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Installation, startInstallation } from "@perch/testkit/installation/installation.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { publicKey, signRequest } from "../../packages/sdk/test/sign-request.ts";

/** The example in Python is tested by sdk-python/tests/test_remote_agent_example.py, where its client is installed. */
const file = join(import.meta.dirname, "../../examples/remote-agent/server.ts");

interface Example {
  readonly url: string;
  readonly child: ChildProcess;
}

async function startExample(perchUrl: string, organisation: string): Promise<Example> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const env = { ...process.env, PORT: String(port), PERCH_URL: perchUrl, PERCH_ORGANISATION: organisation };
  const child = spawn(process.execPath, [file], { env, stdio: "ignore" });
  const failed = once(child, "exit").then(([code]) =>
    Promise.reject(new Error(`The example stopped with code ${code}`)),
  );
  const up = async () => {
    for (let attempt = 0; attempt < 200; attempt++) {
      if (await fetch(url).catch(() => undefined)) return;
      await sleep(50);
    }
    throw new Error("The example does not answer");
  };
  await Promise.race([up(), failed]);
  failed.catch(() => undefined);
  return { url, child };
}

/** A fake Perch with nothing but its keys: the test signs the calls. */
async function startKeyDirectory(): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((_, reply) => void reply.end(JSON.stringify({ keys: [publicKey] })));
  const port = await freePort();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${port}`, server };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

const organisation = "org_01m7evf00ae8nv228b2d9gj1xw";

let perch: Installation;
let apiKey: string;
let keyDirectory: Awaited<ReturnType<typeof startKeyDirectory>>;
/** Called by Perch, and by the test in its place. */
let example: Example;
let direct: Example;

beforeAll(async () => {
  keyDirectory = await startKeyDirectory();
  direct = await startExample(keyDirectory.url, organisation);
  perch = await startInstallation({ settings: { PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8" } });
  apiKey = await perch.createOrganisation("Acme");
  const answer = await fetch(`${perch.url}/v1/me`, { headers: { authorization: `Bearer ${apiKey}` } });
  const { data } = (await answer.json()) as { data: { organisation: { id: string } } };
  example = await startExample(perch.url, data.organisation.id);
});
afterAll(async () => {
  await perch?.stop();
  for (const one of [example, direct]) if (one) await end(one.child);
  keyDirectory?.server.close();
});

const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
  const response = await fetch(`${perch.url}/v1/agents${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as { data: Record<string, unknown> } };
};

const question = (message: string) => ({
  request_id: "req_1",
  agent_id: "agent_1",
  message,
  context: { user_id: null, session_id: null, environment: "production" },
  history: [],
});
let calls = 0;
const signed = (body: string, headers: Record<string, string>): Record<string, string> => {
  const created = Math.floor(Date.now() / 1000);
  return signRequest({
    method: "POST",
    url: direct.url,
    body,
    headers: { "perch-organisation": organisation, ...headers },
    created,
    nonce: `nonce-of-16-or-more-${calls++}`,
  });
};
const send = async (body: string, headers: Record<string, string>) => {
  const response = await fetch(direct.url, { method: "POST", headers, body });
  return { status: response.status, text: await response.text() };
};
const callDirectly = (body: string, headers: Record<string, string>) => send(body, signed(body, headers));

describe("the example in TypeScript", () => {
  test("is an agent: it knows the user and the earlier messages, and a retry gets the same answer", async () => {
    verifies("agent.remote-runtime");
    const made = await post("", { name: "remote-bot", runtime: { type: "http", url: example.url } });
    expect(made.status).toBe(201);
    const say = (message: string) =>
      post(
        "/remote-bot/invoke",
        { message, context: { user_id: "ada", session_id: "chat-7" } },
        { "idempotency-key": message },
      );
    const first = await say("hello");
    const second = await say("goodbye");
    expect([first, second]).toMatchObject([
      { status: 200, body: { data: { response: "Turn 1: ada said hello", tokens_used: 5 } } },
      { status: 200, body: { data: { response: "Turn 2: ada said goodbye", tokens_used: 5 } } },
    ]);
    expect(await say("goodbye")).toEqual(second);
  });

  test("repeats its answer for the same Idempotency-Key, even at once, whatever the message", async () => {
    const key = { "idempotency-key": "direct-1" };
    const body = JSON.stringify(question("hello"));
    const together = await Promise.all(Array.from({ length: 10 }, () => callDirectly(body, key)));
    const later = await callDirectly(JSON.stringify(question("something else")), key);
    expect(new Set([...together, later].map(({ text }) => text)).size).toBe(1);
    expect(later).toMatchObject({ status: 200, text: expect.stringContaining("Turn 1: a user said hello") });
  });

  test("forgets a failed request, and goes on", async () => {
    const key = { "idempotency-key": "direct-2" };
    for (const wrong of ["no JSON", "{}"]) expect((await callDirectly(wrong, key)).status).toBe(500);
    expect((await callDirectly(JSON.stringify(question("still there?")), key)).status).toBe(200);
  });

  test("answers only Perch: 401 without a signature, with another body, and for a copy", async () => {
    const body = JSON.stringify(question("hello"));
    const headers = signed(body, { "idempotency-key": "direct-3" });
    expect(await send(body, { "idempotency-key": "direct-3" })).toMatchObject({ status: 401 });
    expect(await send(`${body} `, headers)).toMatchObject({ status: 401 });
    expect(await send(body, headers)).toMatchObject({ status: 200 });
    expect(await send(body, headers)).toMatchObject({ status: 401, text: expect.stringContaining("came before") });
  });

  test("refuses an agent of another organisation, although Perch signs its requests too", async () => {
    verifies("security.calls-verified");
    const otherOrganisation = "org_01m7evf00be8nv2290e6zkb9p3";
    const headers = { "idempotency-key": "direct-4", "perch-organisation": otherOrganisation };
    expect(await callDirectly(JSON.stringify(question("hello")), headers)).toMatchObject({
      status: 401,
      text: expect.stringContaining(otherOrganisation),
    });
  });
});
