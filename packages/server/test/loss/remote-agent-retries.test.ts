import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { invokeAgent } from "../support/invoke-calls.ts";
import { usePerchWithWorkerProcesses } from "../support/worker-processes.ts";

const workerKilled = Promise.withResolvers<void>();

/** As in the examples: every request with the same key gets the answer to the first. */
const answersByKey = new Map<string, Promise<object>>();
const handledMessages: string[] = [];
async function handleMessage(message: string): Promise<object> {
  handledMessages.push(message);
  if (message !== "warm up") await workerKilled.promise;
  return { response: `done: ${message}`, tokens_used: 3 };
}
const service = await startToolServer(async ({ headers, body }) => {
  const key = String(headers["idempotency-key"]);
  const { message } = JSON.parse(body) as { message: string };
  const answer = answersByKey.get(key) ?? handleMessage(message);
  answersByKey.set(key, answer);
  return { body: await answer };
});
const keysOf = (message: string) =>
  service.calls
    .filter(({ body }) => (JSON.parse(body) as { message: string }).message === message)
    .map(({ headers }) => headers["idempotency-key"]);
const perchWithWorkers = usePerchWithWorkerProcesses({ PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8" });
afterAll(() => service.close());

test("when a worker is killed while it waits for a remote agent, the request is repeated with the same key and handled once", async () => {
  verifies("agent.remote-runtime");
  const { perch, ensureWorkers, endActiveWorker } = perchWithWorkers();
  await ensureWorkers(1);
  const { call, adminKey } = await perch.createOrganisation();
  ok(await call("POST /v1/agents", { body: { name: "bot", runtime: { type: "http", url: service.url } } }));
  expect((await invokeAgent(perch, adminKey, { message: "warm up" })).data.response).toBe("done: warm up");
  await ensureWorkers(2);

  const messages = ["alone", "in a session"];
  const waiting = [
    invokeAgent(perch, adminKey, { message: "alone" }),
    invokeAgent(perch, adminKey, { message: "in a session", context: { session_id: "s-1" } }),
  ];
  for (const message of messages) await expect.poll(() => keysOf(message)).toHaveLength(1);
  await endActiveWorker("SIGKILL");
  workerKilled.resolve();

  const answers = await Promise.all(waiting);
  expect(answers.map(({ status, data }) => [status, data.response, data.tokens_used])).toEqual(
    messages.map((message) => [200, `done: ${message}`, 3]),
  );
  for (const [i, message] of messages.entries()) {
    const id = answers[i]?.data.request_id;
    expect(keysOf(message)).toEqual([id, id]);
  }
  expect(handledMessages.toSorted()).toEqual(["alone", "in a session", "warm up"]);
}, 60_000);
