import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RestateCluster, startRestate } from "../../scripts/testbed/restate-process.ts";
import { createScratchDatabase, type ScratchDatabase } from "../../scripts/testbed/scratch-database.ts";
import { freePort, runCommand, type ServerProcess, startServer } from "../../scripts/testbed/server-process.ts";
import { verifies } from "../verifies.ts";

const folder = join(import.meta.dirname, "../../examples/remote-agent");
const examples = [
  ["typescript", process.execPath, "server.ts"],
  ["python", "python3", "server.py"],
] as const;

interface Example {
  readonly url: string;
  readonly child: ChildProcess;
}

async function startExample(command: string, file: string): Promise<Example> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const env = { ...process.env, PORT: String(port) };
  const child = spawn(command, [join(folder, file)], { env, stdio: "ignore" });
  const failed = once(child, "exit").then(([code]) => Promise.reject(new Error(`${file} stopped with code ${code}`)));
  const up = async () => {
    for (let attempt = 0; attempt < 200; attempt++) {
      if (await fetch(url).catch(() => undefined)) return;
      await sleep(50);
    }
    throw new Error(`${file} does not answer`);
  };
  // A command that does not exist makes an error event, which `once` rejects with.
  await Promise.race([up(), failed]);
  failed.catch(() => undefined);
  return { url, child };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

let database: ScratchDatabase;
let engine: RestateCluster;
let server: ServerProcess;
let apiKey: string;
const started: Record<string, Example> = {};
const example = (name: string): Example => {
  const found = started[name];
  if (!found) throw new Error(`${name} has not started`);
  return found;
};

beforeAll(async () => {
  for (const [name, command, file] of examples) started[name] = await startExample(command, file);
  database = await createScratchDatabase();
  engine = await startRestate();
  await runCommand(database, ["migrate"]);
  apiKey = await runCommand(database, ["create-organisation", "--name", "Acme", "--tier", "pro"]);
  const settings = {
    PERCH_RESTATE_INGRESS_URL: engine.ingressUrls.join(","),
    PERCH_RESTATE_ADMIN_URL: engine.adminUrls.join(","),
    PERCH_WORKER_PORT: String(await freePort()),
    PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
  };
  server = await startServer(database, settings, "all");
});
afterAll(async () => {
  await server?.stop();
  await engine?.stop();
  await database?.drop();
  for (const { child } of Object.values(started)) await end(child);
});

const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
  const response = await fetch(`${server.url}/v1/agents${path}`, {
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
const callDirectly = async (name: string, body: string, headers: Record<string, string>) => {
  const response = await fetch(example(name).url, { method: "POST", headers, body });
  return { status: response.status, text: await response.text() };
};

describe.each(examples.map(([name]) => name))("the example in %s", (name) => {
  test("is an agent: it knows who speaks and what was said before, and a retry gets the same answer", async () => {
    verifies("agent.remote-runtime");
    const made = await post("", { name, runtime: { type: "http", url: example(name).url } });
    expect(made.status).toBe(201);
    const say = (message: string) =>
      post(
        `/${name}/invoke`,
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

  test("asked again with the same Idempotency-Key, even at once, answers the same, whatever it is asked", async () => {
    const key = { "idempotency-key": "direct-1" };
    const body = JSON.stringify(question("hello"));
    const together = await Promise.all(Array.from({ length: 10 }, () => callDirectly(name, body, key)));
    const later = await callDirectly(name, JSON.stringify(question("something else")), key);
    expect(new Set([...together, later].map(({ text }) => text)).size).toBe(1);
    expect(later).toMatchObject({ status: 200, text: expect.stringContaining("Turn 1: somebody said hello") });
  });

  test("forgets what failed, and lives on", async () => {
    const key = { "idempotency-key": "direct-2" };
    for (const wrong of ["no JSON", "{}"])
      expect((await callDirectly(name, wrong, key).catch(() => undefined))?.status).not.toBe(200);
    expect((await callDirectly(name, JSON.stringify(question("still there?")), key)).status).toBe(200);
  });
});
