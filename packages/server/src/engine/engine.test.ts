import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { newUuid } from "../platform/ids.ts";
import { createLogger } from "../platform/logger.ts";
import { createEngine } from "./engine.ts";
import type { ContinuedRun, RunInput, RunOutcome, WaitingOutcome } from "./messages.ts";

interface Call {
  readonly path: string;
  readonly key: string | undefined;
  readonly body: { readonly id?: string };
}

type Answer = (response: ServerResponse, call: Call) => void;
type AnswerProbe = (response: ServerResponse, count: number) => void;

const isHealthy: AnswerProbe = (response) => response.writeHead(200).end();
const never = () => undefined;

/** A node of an engine. Returns its URL, the calls it got, and how often it was probed. */
async function startNode(answer: Answer, answerProbe = isHealthy) {
  const calls: Call[] = [];
  let probes = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.endsWith("/restate/health")) return answerProbe(response, ++probes);
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
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    calls,
    probes: () => probes,
  };
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
    // Writes each byte separately, so that characters are split.
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
  expect([engine.failures(), node.probes()]).toEqual([0, 0]);
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

const createContinuedRun = (sessionId: string | null): ContinuedRun => {
  const { id, organisationId, agentId, userId } = createRun();
  return { id, organisationId, agentId, userId, sessionId, cut: 2, continues: true };
};

test("each continuation of a run has a key of its own, and runs in its session", async () => {
  const waiting: WaitingOutcome = { status: "waiting", cut: 3, actions: [], steps: 1, tokensUsed: 2, durationMs: 3 };
  const node = await startNode((response, call) => {
    if (call.path.startsWith("/restate/send/")) accept(response, call);
    else response.writeHead(200).end(JSON.stringify(waiting));
  });
  const engine = startEngine(node.url);
  const [alone, turn] = [createContinuedRun(null), createContinuedRun("s")];
  await engine.continue(alone);
  expect(await engine.waitContinued(turn, 10_000)).toEqual(waiting);
  expect(node.calls).toEqual([
    { path: "/restate/send/AgentRuns/run", key: `${alone.id}.2`, body: alone },
    {
      path: `/restate/call/AgentSessions/${encodeURIComponent(`${turn.organisationId}/${turn.agentId}/s`)}/run`,
      key: `${turn.id}.2`,
      body: turn,
    },
  ]);
  // Only a continuation has its key. The start of a run joins the first start, however often the run has waited.
  await engine.start({ ...createRun(), id: alone.id, cut: 2 });
  expect(node.calls.at(-1)?.key).toBe(alone.id);
  await engine.close();
});

test("a continuation that has not ended in time is not sent: it has begun, or its row starts it", async () => {
  const node = await startNode(never);
  const engine = startEngine(node.url);
  expect(await engine.waitContinued(createContinuedRun(null), 200)).toBeUndefined();
  expect(node.calls.map(({ path }) => path.split("/")[2])).toEqual(["call"]);
  await engine.close();
});

test("a send fails at its deadline if a node takes the call and never answers", async () => {
  const node = await startNode(never, never);
  const engine = startEngine(node.url);
  const startedAt = performance.now();
  await expect(engine.clearMemory({ id: newUuid(), organisationId: newUuid(), agentId: "a" })).rejects.toMatchObject({
    code: "unavailable",
  });
  expect(performance.now() - startedAt).toBeGreaterThan(1900);
  expect(performance.now() - startedAt).toBeLessThan(4000);
  expect(engine.failures()).toBeGreaterThan(0);
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

const answerWithOutcome: Answer = (response) => response.writeHead(200).end(JSON.stringify(outcome));

test("a call at a silent node joins its run at the next one that answers, with the same key", async () => {
  const silent = [await startNode(never, never), await startNode(never, never)];
  const healthy = await startNode(answerWithOutcome);
  const engine = startEngine(...silent.map(({ url }) => url), healthy.url);
  const run = createRun();
  const startedAt = performance.now();
  expect(await engine.wait(run, 60_000)).toEqual(outcome);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  expect([...silent, healthy].map(({ calls }) => calls.map(({ key }) => key))).toEqual([[run.id], [], [run.id]]);
  const laterAt = performance.now();
  expect(await engine.wait(createRun(), 60_000)).toEqual(outcome);
  expect(performance.now() - laterAt).toBeLessThan(2000);
  await engine.close();
});

test("a node that misses one probe keeps its calls", async () => {
  const answers: ServerResponse[] = [];
  const busy = await startNode(
    (response) => answers.push(response),
    (response, count) => (count === 1 ? undefined : isHealthy(response, count)),
  );
  const other = await startNode(answerWithOutcome);
  const engine = startEngine(busy.url, other.url);
  const waiting = engine.wait(createRun(), 60_000);
  await expect.poll(busy.probes).toBeGreaterThan(2);
  for (const response of answers) answerWithOutcome(response, { path: "", key: "", body: {} });
  expect(await waiting).toEqual(outcome);
  expect([busy.calls.length, other.calls.length, engine.failures()]).toEqual([1, 0, 0]);
  await engine.close();
});

test("a node that answers again is asked again, and a call that waits at a healthy node stays there", async () => {
  let isSilent = true;
  const answers: ServerResponse[] = [];
  const node = await startNode(
    (response, call) => {
      if (call.path.startsWith("/restate/send/")) accept(response, call);
      else answers.push(response);
    },
    (response, count) => (isSilent ? undefined : isHealthy(response, count)),
  );
  const engine = startEngine(node.url);
  await expect(engine.wait(createRun(), 60_000)).rejects.toMatchObject({ code: "unavailable" });
  isSilent = false;
  // With this answer the engine's client knows that the node is back.
  await engine.start(createRun());
  answers.length = 0;
  const waiting = engine.wait(createRun(), 60_000);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect(answers).toHaveLength(1);
  for (const response of answers) answerWithOutcome(response, { path: "", key: "", body: {} });
  expect(await waiting).toEqual(outcome);
  await engine.close();
});

test("a thousand waiting calls do not hold up a hand-over", async () => {
  const held: ServerResponse[] = [];
  let isHolding = true;
  const node = await startNode((response, call) => {
    if (call.path.startsWith("/restate/send/")) accept(response, call);
    else if (isHolding) held.push(response);
    else answerWithOutcome(response, call);
  });
  const engine = startEngine(node.url);
  const waiting: Promise<unknown>[] = [];
  while (waiting.length < 1100) {
    waiting.push(...Array.from({ length: 50 }, () => engine.wait(createRun(), 110_000)));
    await expect.poll(() => held.length).toBe(Math.min(waiting.length, 1024));
  }
  const startedAt = performance.now();
  await engine.start(createRun());
  expect(performance.now() - startedAt).toBeLessThan(4000);
  isHolding = false;
  for (const response of held) response.writeHead(200).end(JSON.stringify(outcome));
  expect(new Set((await Promise.all(waiting)).map((each) => JSON.stringify(each)))).toEqual(
    new Set([JSON.stringify(outcome)]),
  );
  await engine.close();
}, 120_000);
