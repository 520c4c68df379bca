import { type ErrorAnswer, modelServerKey } from "@perch/testkit/servers/models/model-server.ts";
import { startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { createModelRequest, createTestModel, expectFailure } from "../../../test/support/model-requests.ts";
import { PermanentModelError, TransientModelError } from "./model.ts";
import { createProviderModel, type ProviderSettings } from "./provider-model.ts";

let answer: ErrorAnswer = { status: 500 };
const server = await startOpenAiServer(() => answer);
afterAll(() => server.close());

const model = createTestModel(server, "openai-compatible");
const refused = async (next: ErrorAnswer): Promise<Error> => {
  answer = next;
  const before = server.calls.length;
  const failure = await expectFailure(model(createModelRequest()));
  expect(server.calls.length - before).toBe(1);
  return failure;
};
const errorBody = (message: string, code: string | null = null) => ({
  error: { message, type: "x", param: null, code },
});

describe("transient failures", () => {
  test.each([408, 409, 425, 429, 500, 502, 503, 504, 529])(
    "%i is transient, and is not retried here",
    async (status) => {
      const failure = await refused({ status, body: errorBody(`Look at ${modelServerKey}`) });
      expect(failure).toBeInstanceOf(TransientModelError);
      expect(failure.message).toContain(String(status));
    },
  );

  test.each([
    [{ "retry-after": "2" }, 2000, 2000],
    [{ "retry-after": "0.5" }, 500, 500],
    [{ "retry-after-ms": "1500", "retry-after": "2" }, 1500, 1500],
    [{ "retry-after": new Date(Date.now() + 60_000).toUTCString() }, 40_000, 60_000],
    [{ "retry-after": new Date(0).toUTCString() }, 0, 0],
  ])("429 with %j passes on how long to wait", async (headers, min, max) => {
    const { retryAfterMs } = (await refused({ status: 429, headers })) as TransientModelError;
    expect(retryAfterMs).toBeGreaterThanOrEqual(min);
    expect(retryAfterMs).toBeLessThanOrEqual(max);
  });

  test.each([{}, { "retry-after": "soon" }])("429 with %j passes on no delay", async (headers) => {
    expect(((await refused({ status: 429, headers })) as TransientModelError).retryAfterMs).toBeUndefined();
  });

  test("a refused connection", async () => {
    const closedServer = await startOpenAiServer(() => ({}));
    await closedServer.close();
    const failure = await expectFailure(createTestModel(closedServer, "openai-compatible")(createModelRequest()));
    expect(failure).toEqual(
      new TransientModelError("acme/test-model could not be reached: it refuses connections (ECONNREFUSED).", {
        isUnreachable: true,
        advice:
          "Start it, or correct the base URL of provider acme (PATCH /v1/providers/acme, or the server's configuration).",
      }),
    );
  });
});

describe("permanent failures", () => {
  test("429 insufficient_quota says that the quota is used up", async () => {
    const failure = await refused({ status: 429, body: errorBody("You exceeded your quota.", "insufficient_quota") });
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain("quota");
  });

  test.each([401, 403])("%i names the setting of the key, without the provider's message", async (status) => {
    expect(await refused({ status, body: errorBody(`Incorrect API key: ${modelServerKey}`) })).toEqual(
      new PermanentModelError(
        "acme refuses the API key. Check the key of provider acme: PATCH /v1/providers/acme, or the server's configuration.",
      ),
    );
  });

  test("a wrong key is reported as refused", async () => {
    const failure = await expectFailure(
      createTestModel(server, "openai-compatible", { apiKey: "sk-wrong" })(createModelRequest()),
    );
    expect(failure.message).toContain("acme refuses the API key");
  });

  test("404 names the model", async () => {
    expect(await refused({ status: 404, body: errorBody("No such model.") })).toEqual(
      new PermanentModelError("acme has no model test-model, or the key may not use it."),
    );
  });

  test.each([400, 402, 413, 422])("%i keeps the provider's message, without the key", async (status) => {
    const body = errorBody(
      `Bad temperature. (key="${modelServerKey}", Bearer ${modelServerKey.slice(3, 14)}…) Mend it.`,
    );
    expect(await refused({ status, body })).toEqual(
      new PermanentModelError(
        `acme/test-model refuses the request (${status}): Bad temperature. [hidden] Bearer [hidden] Mend it.`,
      ),
    );
  });

  test.each([
    [{ error: "no such option" }, ": no such option"],
    [{ detail: "no such field" }, ": no such field"],
    [{ message: "no such thing", object: "error" }, ": no such thing"],
    [{ detail: [{ loc: ["body"], msg: "wrong" }] }, ': {"detail":[{"loc":["body"],"msg":"wrong"}]}'],
    ["plain words", ": plain words"],
    ["<html>a page</html>", "."],
    ["", "."],
  ])("400 with the body %j keeps its message", async (body, reason) => {
    expect((await refused({ status: 400, body })).message).toBe(`acme/test-model refuses the request (400)${reason}`);
  });

  test("the provider's message is truncated to 500 characters", async () => {
    expect((await refused({ status: 400, body: errorBody("long ".repeat(1000)) })).message.length).toBeLessThan(560);
  });

  test("a redirect is not followed, because the key would be sent along", async () => {
    const before = server.calls.length;
    const failure = await refused({ status: 307, headers: { location: `${server.url}/chat/completions` } });
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(server.calls.length - before).toBe(1);
  });

  test("an HTML page instead of a response says to check the base URL", async () => {
    const failure = await refused({ status: 200, headers: { "content-type": "text/html" }, body: "<html></html>" });
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain("base URL");
  });
});

describe("errors in the stream, after a 200", () => {
  const streamed = (type: ProviderSettings["type"], ...events: object[]) =>
    expectFailure(
      createProviderModel({ name: "acme", type, baseUrl: server.url, apiKey: modelServerKey }, "m", {
        fetch: async () => new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")),
        idleTimeoutMs: 400,
      })(createModelRequest()),
    );
  const created = { type: "response.created", response: { id: "r", created_at: 1, model: "m" } };
  const failed = (code: string, message: string) => ({
    type: "response.failed",
    sequence_number: 1,
    response: { error: { code, message } },
  });
  const anthropicError = (type: string, message: string) => ({ type: "error", error: { type, message } });

  test.each([
    ["openai", [created, failed("rate_limit_exceeded", "Slow.")]],
    ["openai", [created, failed("server_error", "Oops.")]],
    ["anthropic", [anthropicError("overloaded_error", "Overloaded")]],
    ["openai-compatible", [{ error: { message: "Slow.", code: 429 } }]],
    ["openai-compatible", [{ error: { message: "Oops.", type: "server_error" } }]],
    ["openai-compatible", [{ choices: [{ delta: { content: "hi" } }] }]],
    ["google", [{ candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL" }] }]],
    ["google", [{ candidates: [{ finishReason: "OTHER" }] }]],
  ] as const)("%s %j is transient", async (type, events) => {
    expect(await streamed(type, ...events)).toBeInstanceOf(TransientModelError);
  });

  test.each([
    ["openai", [created, failed("insufficient_quota", "Pay.")], "quota"],
    ["openai", [created, failed("invalid_prompt", `Bad ${modelServerKey}`)], "(400): Bad [hidden]"],
    ["openai", [{ id: "c", choices: [{ delta: { content: "hi" } }] }], "openai-compatible"],
    ["anthropic", [anthropicError("invalid_request_error", `Bad ${modelServerKey}`)], "(400): Bad [hidden]"],
    ["openai-compatible", [{ error: { message: `Bad ${modelServerKey}`, code: 400 } }], "(400): Bad [hidden]"],
    ["google", [{ promptFeedback: { blockReason: "SAFETY" } }], "content filter stopped it (SAFETY)"],
  ] as const)("%s %j is permanent", async (type, events, message) => {
    const failure = await streamed(type, ...events);
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain(message);
  });
});
