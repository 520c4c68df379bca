import { once } from "node:events";
import { createServer } from "node:http";
import { PassThrough } from "node:stream";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { type HttpToolAnswer, hang, startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { invokeStreaming, type StreamEvent } from "../../../test/support/event-stream-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { invokeAgent } from "../../../test/support/invoke-calls.ts";

interface Question {
  readonly request_id: string;
  readonly message: string;
  readonly history: readonly { readonly role: string; readonly content: string }[];
}

const sse = { "content-type": "text/event-stream" };
const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const stream = new PassThrough();

/** A message names the service's behaviour. */
const answers: Record<string, (tries: number) => HttpToolAnswer | Promise<HttpToolAnswer>> = {
  "busy once": (tries) =>
    tries === 1
      ? { status: 503, headers: { "retry-after": "1" }, body: { error: "busy" } }
      : { body: { response: "now" } },
  "bad request": () => ({ status: 422, body: { error: { message: "There is no such order." } } }),
  "own error": () => ({
    headers: sse,
    body: event("token", { text: "I " }) + event("error", { message: "I give up." }),
  }),
  "another shape": () => ({ body: { answer: "x" } }),
  "moved away": () => ({ status: 307, headers: { location: "http://169.254.169.254/" } }),
  "far too long": () => ({ body: { response: "x".repeat(6 * 1024 * 1024) } }),
  "too long": () => ({ body: { response: "y".repeat(1024 * 1024 + 1) } }),
  "cut off once": (tries) => ({
    headers: { "content-type": "Text/Event-Stream; charset=UTF-8" },
    body: event("token", { text: tries === 1 ? "Half an" : "Whole." }) + (tries === 1 ? "" : event("done", {})),
  }),
  streamed: () => ({ headers: sse, body: stream }),
  hang,
};
const service = await startToolServer(({ body }) => {
  const { message } = JSON.parse(body) as Question;
  return answers[message]?.(callsOf(message).length) ?? { body: { response: `re: ${message}`, tokens_used: 7 } };
});
const calls = () => service.calls.map((call) => ({ ...call, question: JSON.parse(call.body) as Question }));
const callsOf = (message: string) => calls().filter(({ question }) => question.message === message);
const keysOf = (message: string) => callsOf(message).map(({ headers }) => headers["idempotency-key"]);

const perch = usePerch(
  { outboundAllowedPrivateRanges: ["127.0.0.0/8"], valkeyUrl: serviceUrl("PERCH_VALKEY_URL") },
  { withWorker: true },
);
afterAll(() => service.close());

/** An address can contain a secret, so no message may show it. */
const secret = "token=s3cret";

async function createOrganisationWithAgent(limits = {}, url = `${service.url}/agent?${secret}`): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", runtime: { type: "http", url }, limits } }));
  return organisation;
}

const runsOf = async ({ call }: Organisation) =>
  ok(await call("GET /v1/agents/{agent_id}/invocations", { params: { agent_id: "bot" }, query: {} })).data;

async function failureOf({ adminKey }: Organisation, message: string): Promise<string> {
  const { status, error, text } = await invokeAgent(perch(), adminKey, { message });
  expect([status, error?.code]).toEqual([422, "run_failed"]);
  expect(text).not.toContain(secret);
  return error.message;
}

describe("a remote agent", () => {
  test("receives the message, the context and the history, and its answer and tokens become the run's", async () => {
    verifies("agent.remote-runtime");
    const organisation = await createOrganisationWithAgent();
    const context = { user_id: "ada", session_id: "s-1", environment: "staging" };
    const say = async (message: string) =>
      (await invokeAgent(perch(), organisation.adminKey, { message, context })).data;
    const first = await say("one");
    const second = await say("two");
    expect([first, second]).toMatchObject([
      { response: "re: one", tokens_used: 7 },
      { response: "re: two", tokens_used: 7 },
    ]);
    const runs = await runsOf(organisation);
    expect(runs).toMatchObject([{ status: "completed", steps: 1, tokens_used: 7 }, { status: "completed" }]);
    const [call] = callsOf("two");
    expect([call?.method, call?.path]).toEqual(["POST", `/agent?${secret}`]);
    expect(call?.headers).toMatchObject({
      "idempotency-key": second.request_id,
      "x-request-id": second.request_id,
      "content-type": "application/json",
    });
    expect(call?.question).toEqual({
      request_id: second.request_id,
      agent_id: runs[0]?.agent_id,
      message: "two",
      context,
      history: [
        { role: "user", content: "one" },
        { role: "assistant", content: "re: one" },
      ],
      memories: [],
    });
    expect(callsOf("one")[0]?.question.history).toEqual([]);
    expect(keysOf("one")).toEqual([first.request_id]);
  });

  test("that is busy is called again after its Retry-After, with the same Idempotency-Key, in one run", async () => {
    verifies("agent.remote-runtime");
    const organisation = await createOrganisationWithAgent();
    const startedAt = performance.now();
    const { data } = await invokeAgent(perch(), organisation.adminKey, { message: "busy once" });
    expect(performance.now() - startedAt).toBeGreaterThan(990);
    expect(data.response).toBe("now");
    expect(keysOf("busy once")).toEqual([data.request_id, data.request_id]);
    expect(await runsOf(organisation)).toMatchObject([{ request_id: data.request_id, tokens_used: 0 }]);
    const log = ok(
      await organisation.call("GET /v1/agents/{agent_id}/logs", { params: { agent_id: "bot" }, query: {} }),
    );
    expect(log.data.map(({ level }) => level)).toContain("warn");
    expect(JSON.stringify(log)).not.toContain(secret);
  });

  test("that is down is called again until it is up", async () => {
    const port = await freePort();
    const organisation = await createOrganisationWithAgent({}, `http://127.0.0.1:${port}/`);
    const waiting = invokeAgent(perch(), organisation.adminKey, { message: "anybody?" });
    // A run whose first attempt failed is listed.
    await expect.poll(() => runsOf(organisation)).toMatchObject([{ status: "running" }]);
    const late = createServer((_, response) => response.end(JSON.stringify({ response: "here I am" })));
    late.listen(port, "127.0.0.1");
    await once(late, "listening");
    expect((await waiting).data.response).toBe("here I am");
    late.closeAllConnections();
    late.close();
  });

  test.each([
    ["bad request", "answers 422: There is no such order."],
    ["own error", "I give up."],
    ["another shape", 'something else than {"response": "…"}'],
    ["moved away", "Redirects are not followed."],
    ["far too long", "A line of the response is larger than the limit of 5242880 bytes"],
  ])("%s: ends the run after one call, with its message", async (message, error) => {
    verifies("agent.remote-runtime");
    const organisation = await createOrganisationWithAgent();
    const before = callsOf(message).length;
    expect(await failureOf(organisation, message)).toContain(error);
    expect(callsOf(message)).toHaveLength(before + 1);
    const [run] = await runsOf(organisation);
    expect(run).toMatchObject({ status: "failed", error: expect.stringContaining(error) as string });
    expect(JSON.stringify(run)).not.toContain(secret);
  });

  test("that answers more than 1 MiB has its answer truncated", async () => {
    const { adminKey } = await createOrganisationWithAgent();
    const { data } = await invokeAgent(perch(), adminKey, { message: "too long" });
    expect(data.response).toBe("y".repeat(1024 * 1024));
  });

  test("may stream: a follower of the run receives the text as it arrives, a waiting client all of it", async () => {
    const { adminKey } = await createOrganisationWithAgent();
    const given = { headers: { "idempotency-key": "follow" } };
    const followed = (await invokeStreaming(perch(), adminKey, { message: "streamed" }, given)).events();
    const step = { kind: "model", name: "The remote agent", step: 1, attempt: 1 };
    expect((await followed.next()).value).toMatchObject({ event: "step", data: { ...step, status: "started" } });
    stream.write(event("token", { text: "Hel" }));
    expect((await followed.next()).value).toMatchObject({ event: "token", data: { text: "Hel" } });
    stream.end(event("token", { text: "lo" }) + event("done", { tokens_used: 2 }));
    const rest: StreamEvent[] = [];
    for await (const seen of followed) rest.push(seen);
    expect(rest).toMatchObject([
      { event: "token", data: { text: "lo", offset: 3 } },
      { event: "step", data: { ...step, status: "completed", tokens: 2 } },
      { event: "done", data: { response: "Hello", tokens_used: 2 } },
    ]);
    const joined = await invokeAgent(perch(), adminKey, { message: "streamed" }, given);
    expect(joined.data).toMatchObject({ response: "Hello", tokens_used: 2 });
    expect(callsOf("streamed")).toHaveLength(1);
  });

  test("whose stream breaks is called again, and its first text is not part of the answer", async () => {
    const { adminKey } = await createOrganisationWithAgent();
    const { data } = await invokeAgent(perch(), adminKey, { message: "cut off once" });
    expect(data.response).toBe("Whole.");
    expect(keysOf("cut off once")).toEqual([data.request_id, data.request_id]);
  });

  test("that hangs is abandoned at the run's time limit", async () => {
    const organisation = await createOrganisationWithAgent({ timeout_seconds: 1 });
    const before = callsOf("hang").length;
    const startedAt = performance.now();
    expect(await failureOf(organisation, "hang")).toContain("limits.timeout_seconds");
    const tookMs = performance.now() - startedAt;
    expect(tookMs).toBeGreaterThan(900);
    expect(tookMs).toBeLessThan(10_000);
    expect(callsOf("hang")).toHaveLength(before + 1);
  });

  test("is not called again by a client's retry, during the run or after it", async () => {
    verifies("agent.remote-runtime");
    const { adminKey } = await createOrganisationWithAgent();
    const ask = () =>
      invokeAgent(perch(), adminKey, { message: "only once" }, { headers: { "idempotency-key": "order-42" } });
    const together = await Promise.all([ask(), ask(), ask()]);
    const texts = new Set([...together, await ask()].map(({ text }) => text));
    expect([...texts]).toEqual([expect.stringContaining('"response":"re: only once"')]);
    expect(callsOf("only once")).toHaveLength(1);
  });

  test("at a private address that the operator does not allow is not called", async () => {
    verifies("agent.remote-runtime", "outbound.guarded");
    const organisation = await createOrganisationWithAgent({}, `http://169.254.169.254/latest?${secret}`);
    expect(await failureOf(organisation, "metadata?")).toContain("PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES");
  });
});
