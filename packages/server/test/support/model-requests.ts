import { inspect } from "node:util";
import {
  type AnswerCall,
  type ModelAnswer,
  type ModelServer,
  modelServerKey,
} from "@perch/testkit/servers/models/model-server.ts";
import { afterAll, expect } from "vitest";
import type { ModelRequest } from "../../src/outbound/models/model.ts";
import { createProviderModel, type ProviderSettings } from "../../src/outbound/models/provider-model.ts";

/** Creates a model that calls a test server, with a short silence timeout. */
export const createTestModel = (
  server: Pick<ModelServer, "url">,
  type: ProviderSettings["type"],
  change: Partial<ProviderSettings> = {},
  model = "test-model",
  idleTimeoutMs = 1500,
) =>
  createProviderModel({ name: "acme", type, baseUrl: server.url, apiKey: modelServerKey, ...change }, model, {
    fetch,
    idleTimeoutMs,
  });

export const createModelRequest = (change: Partial<ModelRequest> = {}): ModelRequest => ({
  requestId: "req_1",
  step: 1,
  messages: [{ role: "user", content: "hello" }],
  tools: [],
  temperature: null,
  instructions: "",
  maxOutputTokens: 100_000,
  signal: AbortSignal.timeout(10_000),
  onText: () => undefined,
  ...change,
});

export const weatherTool = {
  name: "weather",
  description: "Says how the weather is.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

/** The messages of a run's second model call, after two tool calls of which one failed. */
export const messagesAfterToolCalls = (providerMetadata?: unknown): ModelRequest["messages"] => [
  { role: "system", content: "Be kind." },
  { role: "user", content: "How is the weather?" },
  {
    role: "assistant",
    content: "Let me see.",
    toolCalls: [
      { id: "c1", name: "weather", arguments: { city: "Oslo" }, ...(providerMetadata ? { providerMetadata } : {}) },
      { id: "c2", name: "weather", arguments: "{not json" },
    ],
  },
  { role: "tool", callId: "c1", name: "weather", content: "Rain." },
  { role: "tool", callId: "c2", name: "weather", content: "These are no arguments.", failed: true },
];

/** Returns the error of a failed call, and expects that no part of it contains a piece of the API key. */
export async function expectFailure(reply: Promise<unknown>): Promise<Error> {
  const error: unknown = await reply.then(
    (value) => expect.fail(`It answered: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) expect.fail("It threw something that is no Error.");
  const { message, stack, cause } = error;
  const shown = `${JSON.stringify({ ...error, message, stack, cause })} ${inspect(error, { depth: 9, showHidden: true })}`;
  expect(shown).toContain(message.slice(0, 20));
  for (let at = 0; at + 8 <= modelServerKey.length; at++) expect(shown).not.toContain(modelServerKey.slice(at, at + 8));
  return error;
}

/** Starts a provider's test server for one test file, with a model that calls it. */
export async function startTestModel(
  start: (answer: AnswerCall) => Promise<ModelServer>,
  type: ProviderSettings["type"],
  name?: string,
) {
  let answer: ModelAnswer = {};
  const server = await start(() => answer);
  afterAll(() => server.close());
  const model = createTestModel(server, type, {}, name);
  /** Does not give up on a server that is silent. */
  const patient = createTestModel(server, type, {}, name, 60_000);
  /** Calls the model, which the server answers like this. */
  const answering = (next: ModelAnswer, change: Partial<ModelRequest> = {}, called = model) => {
    answer = next;
    return called(createModelRequest(change));
  };
  const failing = (next: ModelAnswer) => expectFailure(answering(next));
  return { server, patient, answering, failing };
}
