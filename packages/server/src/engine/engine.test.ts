import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { newUuid } from "../platform/ids.ts";
import { createLogger } from "../platform/logger.ts";
import { createEngine } from "./engine.ts";
import type { RunInput, RunOutcome } from "./messages.ts";

interface Call {
  readonly path: string;
  readonly key: string | undefined;
  readonly body: { readonly id?: string };
}

type Answer = (response: ServerResponse, call: Call) => void;

/** A node of an engine. Returns its URL, and the calls it got. */
async function startNode(answer: Answer) {
  const calls: Call[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const key = request.headers["idempotency-key"]?.toString();
    const call = { path: request.url ?? "", key, body: JSON.parse(await text(request)) as Call["body"] };
    calls.push(call);
    answer(response, call);
  };
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`, calls };
}

function startEngine(...ingressUrls: string[]) {
  let failures = 0;
  const onFailure = () => {
    failures += 1;
  };
  const engine = createEngine({ ingressUrls, logger: createLogger("silent"), onFailure });
  return { ...engine, failures: () => failures };
}

const createRun = (): RunInput => ({
  id: newUuid(),
  acceptedAtMs: 0,
  organisationId: newUuid(),
  agentId: newUuid(),
  environment: "production",
  version: null,
  deploymentId: null,
  trial: null,
  definition: {} as RunInput["definition"],
  message: "hello",
  userId: null,
  sessionId: null,
  streamed: false,
  trace: null,
});

const outcome: RunOutcome = { status: "completed", response: "grüß dich 👋", steps: 1, tokensUsed: 2, durationMs: 3 };
const accept: Answer = (response) => response.writeHead(202).end("{}");
const refuse =
  (status: number): Answer =>
  (response) =>
    response.writeHead(status).end("no");
const closedUrl = "http://127.0.0.1:1";

test("an answer that arrives in pieces is read whole, and the run's id is the idempotency key", async () => {
  const bytes = Buffer.from(JSON.stringify(outcome));
  const node = await startNode((response) => {
    response.writeHead(200, { "content-type": "application/json" });
    // Each byte alone, so that characters are split.
    const writeFrom = (i: number): void => {
      if (i === bytes.length) response.end();
      else response.write(bytes.subarray(i, i + 1), () => writeFrom(i + 1));
    };
    writeFrom(0);
  });
  const run = createRun();
  const engine = startEngine(`${node.url}/engine/`);
  expect(await engine.wait(run, 10_000)).toEqual(outcome);
  expect(node.calls).toMatchObject([{ path: "/engine/restate/call/AgentRuns/run", key: run.id, body: { id: run.id } }]);
  expect(engine.failures()).toBe(0);
  await engine.close();
});

test("a node that cannot be reached or answers 5xx is passed over, and the one that answered is asked first from then on", async () => {
  const [bad, good] = [await startNode(refuse(503)), await startNode(accept)];
  const engine = startEngine(closedUrl, bad.url, good.url);
  for (let i = 0; i < 3; i++) await engine.start(createRun());
  expect([bad.calls.length, good.calls.length, engine.failures()]).toEqual([1, 3, 2]);
  await engine.close();
});

test("a run that has not ended in time is sent as well, so that the engine has it for certain", async () => {
  const node = await startNode((response, call) => {
    if (call.path.startsWith("/restate/send/")) accept(response, call);
  });
  const engine = startEngine(node.url);
  const run = createRun();
  expect(await engine.wait(run, 200)).toBeUndefined();
  expect(node.calls.map(({ path, key }) => [path.split("/")[2], key])).toEqual([
    ["call", run.id],
    ["send", run.id],
  ]);
  expect(engine.failures()).toBe(0);
  await engine.close();
});

test("a send fails at its deadline if a node takes the call and never answers", async () => {
  const node = await startNode(() => undefined);
  const engine = startEngine(node.url);
  const startedAt = performance.now();
  await expect(engine.clearMemory({ id: newUuid(), organisationId: newUuid(), agentId: "a" })).rejects.toMatchObject({
    code: "unavailable",
  });
  expect(performance.now() - startedAt).toBeGreaterThan(1900);
  expect(performance.now() - startedAt).toBeLessThan(4000);
  expect(engine.failures()).toBe(1);
  await engine.close();
});

test("services that the engine does not know are asked for again for five seconds, then the call fails", async () => {
  const node = await startNode(refuse(404));
  const engine = startEngine(node.url);
  const startedAt = performance.now();
  await expect(engine.start(createRun())).rejects.toMatchObject({ code: "unavailable" });
  expect(performance.now() - startedAt).toBeGreaterThan(5000);
  expect(performance.now() - startedAt).toBeLessThan(9000);
  expect(node.calls.length).toBeGreaterThan(5);
  await engine.close();
});

test("a call that has ended leaves no timer behind", async () => {
  const node = await startNode((response) => response.writeHead(200).end(JSON.stringify(outcome)));
  const engine = startEngine(node.url);
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  await engine.wait(createRun(), 60_000);
  const before = timers();
  for (let i = 0; i < 200; i++) await engine.wait(createRun(), 60_000);
  // The test runner has timers too.
  expect(timers() - before).toBeLessThan(100);
  await engine.close();
});
