import { afterAll, expect, test } from "vitest";
import { verifies } from "../../../spec/verifies.ts";
import { ok } from "./contract-client.ts";
import { invokeAt } from "./invoking.ts";
import { startToolServer } from "./tool-server.ts";
import { usePerchBehindDoor } from "./worker-door.ts";

const workerGone = Promise.withResolvers<void>();

/** As the examples do: what was worked out for a key is what every request with it gets. */
const remembered = new Map<string, Promise<object>>();
const worked: string[] = [];
async function work(message: string): Promise<object> {
  worked.push(message);
  if (message !== "warm up") await workerGone.promise;
  return { response: `done: ${message}`, tokens_used: 3 };
}
const service = await startToolServer(async ({ headers, body }) => {
  const key = String(headers["idempotency-key"]);
  const { message } = JSON.parse(body) as { message: string };
  const answer = remembered.get(key) ?? work(message);
  remembered.set(key, answer);
  return { body: await answer };
});
const keysOf = (message: string) =>
  service.calls
    .filter(({ body }) => (JSON.parse(body) as { message: string }).message === message)
    .map(({ headers }) => headers["idempotency-key"]);
const behindDoor = usePerchBehindDoor({ PERCH_OUTBOUND_PRIVATE_RANGES: "127.0.0.0/8" });
afterAll(() => service.close());

test("a worker killed while it waits for a remote agent: asked again with the same key, which worked once", async () => {
  verifies("agent.remote-runtime");
  const { perch, haveWorkers, loseWorker } = behindDoor();
  await haveWorkers(1);
  const { call, adminKey } = await perch.newOrganisation();
  ok(await call("POST /v1/agents", { body: { name: "bot", runtime: { type: "http", url: service.url } } }));
  expect((await invokeAt(perch, adminKey, { message: "warm up" })).data.response).toBe("done: warm up");
  await haveWorkers(2);

  const messages = ["alone", "in a session"];
  const waiting = [
    invokeAt(perch, adminKey, { message: "alone" }),
    invokeAt(perch, adminKey, { message: "in a session", context: { session_id: "s-1" } }),
  ];
  for (const message of messages) await expect.poll(() => keysOf(message), { timeout: 5000 }).toHaveLength(1);
  await loseWorker("SIGKILL");
  workerGone.resolve();

  const answers = await Promise.all(waiting);
  expect(answers.map(({ status, data }) => [status, data.response, data.tokens_used])).toEqual(
    messages.map((message) => [200, `done: ${message}`, 3]),
  );
  for (const [i, message] of messages.entries()) {
    const id = answers[i]?.data.request_id;
    expect(keysOf(message)).toEqual([id, id]);
  }
  expect(worked.toSorted()).toEqual(["alone", "in a session", "warm up"]);
}, 60_000);
