import { afterAll, describe, expect, test } from "vitest";
import { asked, failureOf, modelAt } from "../../test/model-servers/asking.ts";
import { modelServerKey, type RefusedAnswer } from "../../test/model-servers/model-server.ts";
import { startOpenAiServer } from "../../test/model-servers/openai-server.ts";
import { PassingModelError, PermanentModelError } from "./model.ts";
import { createProviderModel, type ProviderSettings } from "./provider-model.ts";

let answer: RefusedAnswer = { status: 500 };
const server = await startOpenAiServer(() => answer);
afterAll(() => server.close());

const model = modelAt(server, "openai-compatible");
const refused = async (next: RefusedAnswer): Promise<Error> => {
  answer = next;
  const before = server.calls.length;
  const failure = await failureOf(model(asked()));
  expect(server.calls.length - before).toBe(1);
  return failure;
};
const says = (message: string, code: string | null = null) => ({ error: { message, type: "x", param: null, code } });

describe("passing failures", () => {
  test.each([408, 409, 425, 429, 500, 502, 503, 504, 529])(
    "%i may go better later, and is asked once only",
    async (status) => {
      const failure = await refused({ status, body: says(`Look at ${modelServerKey}`) });
      expect(failure).toBeInstanceOf(PassingModelError);
      expect(failure.message).toContain(String(status));
    },
  );

  test.each([
    [{ "retry-after": "2" }, 2000, 2000],
    [{ "retry-after": "0.5" }, 500, 500],
    [{ "retry-after-ms": "1500", "retry-after": "2" }, 1500, 1500],
    [{ "retry-after": new Date(Date.now() + 60_000).toUTCString() }, 40_000, 60_000],
    [{ "retry-after": new Date(0).toUTCString() }, 0, 0],
  ])("429 with %j says how long to wait", async (headers, least, most) => {
    const { retryAfterMs } = (await refused({ status: 429, headers })) as PassingModelError;
    expect(retryAfterMs).toBeGreaterThanOrEqual(least);
    expect(retryAfterMs).toBeLessThanOrEqual(most);
  });

  test.each([{}, { "retry-after": "soon" }])("429 with %j does not", async (headers) => {
    expect(((await refused({ status: 429, headers })) as PassingModelError).retryAfterMs).toBeUndefined();
  });

  test("a server that is not there", async () => {
    const gone = await startOpenAiServer(() => ({}));
    await gone.close();
    const failure = await failureOf(modelAt(gone, "openai-compatible")(asked()));
    expect(failure).toEqual(new PassingModelError("The connection to acme/test-model failed (ECONNREFUSED)."));
  });
});

describe("permanent failures", () => {
  test("429 insufficient_quota is about money, not about waiting", async () => {
    const failure = await refused({ status: 429, body: says("You exceeded your quota.", "insufficient_quota") });
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain("quota");
  });

  test.each([401, 403])("%i says where to set the key, and nothing of what the provider says", async (status) => {
    expect(await refused({ status, body: says(`Incorrect API key: ${modelServerKey}`) })).toEqual(
      new PermanentModelError(
        "acme refuses the API key. Check the key of provider acme: PATCH /v1/providers/acme, or the server's configuration.",
      ),
    );
  });

  test("a wrong key is one of those", async () => {
    const failure = await failureOf(modelAt(server, "openai-compatible", { apiKey: "sk-wrong" })(asked()));
    expect(failure.message).toContain("acme refuses the API key");
  });

  test("404 names the model", async () => {
    expect(await refused({ status: 404, body: says("No such model.") })).toEqual(
      new PermanentModelError("acme has no model test-model, or the key may not use it."),
    );
  });

  test.each([400, 402, 413, 422])("%i tells what the provider says, without the key", async (status) => {
    const body = says(`Bad temperature. (key="${modelServerKey}", Bearer ${modelServerKey.slice(3, 14)}…) Mend it.`);
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
  ])("400 with the body %j says what there is to say", async (body, said) => {
    expect((await refused({ status: 400, body })).message).toBe(`acme/test-model refuses the request (400)${said}`);
  });

  test("what the provider says is cut at 500 characters", async () => {
    expect((await refused({ status: 400, body: says("long ".repeat(1000)) })).message.length).toBeLessThan(560);
  });

  test("a redirect is not followed: the key would go along", async () => {
    const before = server.calls.length;
    const failure = await refused({ status: 307, headers: { location: `${server.url}/chat/completions` } });
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(server.calls.length - before).toBe(1);
  });

  test("a web page is no model", async () => {
    const failure = await refused({ status: 200, headers: { "content-type": "text/html" }, body: "<html></html>" });
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain("base URL");
  });
});

describe("failures that come in the stream, after a 200", () => {
  const streamed = (type: ProviderSettings["type"], ...events: object[]) =>
    failureOf(
      createProviderModel({ name: "acme", type, baseUrl: server.url, apiKey: modelServerKey }, "m", {
        fetch: async () => new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")),
        silenceMs: 400,
      })(asked()),
    );
  const created = { type: "response.created", response: { id: "r", created_at: 1, model: "m" } };
  const failed = (code: string, message: string) => ({
    type: "response.failed",
    sequence_number: 1,
    response: { error: { code, message } },
  });
  const said = (type: string, message: string) => ({ type: "error", error: { type, message } });

  test.each([
    ["openai", [created, failed("rate_limit_exceeded", "Slow.")]],
    ["openai", [created, failed("server_error", "Oops.")]],
    ["anthropic", [said("overloaded_error", "Overloaded")]],
    ["openai-compatible", [{ error: { message: "Slow.", code: 429 } }]],
    ["openai-compatible", [{ error: { message: "Oops.", type: "server_error" } }]],
    ["openai-compatible", [{ choices: [{ delta: { content: "hi" } }] }]],
    ["google", [{ candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL" }] }]],
    ["google", [{ candidates: [{ finishReason: "OTHER" }] }]],
  ] as const)("%s %j is tried again", async (type, events) => {
    expect(await streamed(type, ...events)).toBeInstanceOf(PassingModelError);
  });

  test.each([
    ["openai", [created, failed("insufficient_quota", "Pay.")], "quota"],
    ["openai", [created, failed("invalid_prompt", `Bad ${modelServerKey}`)], "(400): Bad [hidden]"],
    ["openai", [{ id: "c", choices: [{ delta: { content: "hi" } }] }], "openai-compatible"],
    ["anthropic", [said("invalid_request_error", `Bad ${modelServerKey}`)], "(400): Bad [hidden]"],
    ["openai-compatible", [{ error: { message: `Bad ${modelServerKey}`, code: 400 } }], "(400): Bad [hidden]"],
    ["google", [{ promptFeedback: { blockReason: "SAFETY" } }], "content filter stopped it (SAFETY)"],
  ] as const)("%s %j ends the run", async (type, events, message) => {
    const failure = await streamed(type, ...events);
    expect(failure).toBeInstanceOf(PermanentModelError);
    expect(failure.message).toContain(message);
  });
});
