import { pathOf, type RequestParts, sendOperation } from "@perch/testkit/api-story/send.ts";
import { type Narration, playStory } from "@perch/testkit/api-story/story.ts";
import { openLink, type StoryServer } from "@perch/testkit/api-story/story-server.ts";
import {
  type ErrorBody,
  type ErrorCode,
  type Operation,
  type OperationExample,
  type OperationKey,
  operationKeys,
  operations,
} from "../../packages/contract/src/index.ts";
import { recordErrors } from "./errors.ts";
import { StableValues } from "./stable-values.ts";
import { steadyInstallation } from "./steady-installation.ts";

export interface RecordedExamples {
  readonly operations: Readonly<Record<OperationKey, OperationExample>>;
  readonly errors: Readonly<Record<ErrorCode, ErrorBody>>;
}

/** Data of the first event with text that the run's stream has. */
async function readTokenEvent(server: StoryServer, path: string): Promise<unknown> {
  const response = await fetch(server.url + path, {
    headers: { authorization: `Bearer ${server.apiKey}`, accept: "text/event-stream" },
  });
  const event = (await response.text()).split("\n\n").find((text) => /^event: token$/m.test(text));
  const data = event?.match(/^data: (.*)$/m)?.[1];
  if (!data) throw new Error("The stream of a run has no token");
  return JSON.parse(data);
}

/** Sends the requests of the story over HTTP, and records those that it shows. */
class Recorder {
  readonly #server: StoryServer;
  readonly #values: StableValues;
  readonly #shown = new Map<OperationKey, OperationExample>();
  readonly #accepted = new Map<OperationKey, unknown>();
  #tokenEvent: unknown;

  constructor(server: StoryServer, values: StableValues) {
    this.#server = server;
    this.#values = values;
  }

  async send(key: OperationKey, request: RequestParts, headers?: Readonly<Record<string, string>>) {
    const { status, text } = await sendOperation(this.#server, key, request, headers);
    if (status >= 300) throw new Error(`${key} answers ${status}: ${text}`);
    const body: unknown = JSON.parse(text);
    if (status === 202) this.#accepted.set(key, this.#values.stable(body));
    return { status, body };
  }

  async show(key: OperationKey, request: RequestParts, headers?: Readonly<Record<string, string>>): Promise<unknown> {
    if (this.#shown.has(key)) throw new Error(`The story shows ${key} twice`);
    this.#values.beginStep();
    const { status, body } = await this.send(key, request, headers);
    if (status !== operations[key].status) throw new Error(`${key} answers ${status}, which is not its success`);
    this.#shown.set(key, {
      request: this.#values.stable(request) as OperationExample["request"],
      response: key === "GET /v1/installation" ? steadyInstallation(body) : this.#values.stable(body),
    });
    if (key === "GET /v1/agents/{agent_id}/invocations/{request_id}") {
      this.#tokenEvent = this.#values.stable(await readTokenEvent(this.#server, pathOf(key, request)));
    }
    return body;
  }

  /** Events of logs are entries, as in the list; those of runs are tokens. */
  #eventOf(key: OperationKey, response: unknown): unknown {
    if (key !== "GET /v1/agents/{agent_id}/logs") return this.#tokenEvent;
    return (response as { readonly data: readonly unknown[] }).data[0];
  }

  examples(): RecordedExamples["operations"] {
    const inOrder = operationKeys.map((key) => {
      const operation: Operation = operations[key];
      const example = this.#shown.get(key);
      if (!example) throw new Error(`The story does not show ${key}`);
      const accepted = operation.accepted && this.#accepted.get(key);
      const event = operation.events && this.#eventOf(key, example.response);
      return [key, { ...example, ...(accepted !== undefined && { accepted }), ...(event !== undefined && { event }) }];
    });
    return Object.fromEntries(inOrder) as RecordedExamples["operations"];
  }
}

/** Plays the story on a server, and returns every request that it shows, with its answer. */
export async function recordExamples(server: StoryServer): Promise<RecordedExamples> {
  const values = new StableValues([
    [new URL(server.webhookUrl).origin, "https://hooks.example.com"],
    [server.issuer, "https://login.example.com"],
    [server.url, "https://perch.example.com"],
  ]);
  const recorder = new Recorder(server, values);
  const narration = {
    show: (...call: Parameters<Recorder["show"]>) => recorder.show(...call),
    prepare: async (...call: Parameters<Recorder["send"]>) => (await recorder.send(...call)).body,
    webhookUrl: server.webhookUrl,
    operatorKey: server.operatorKey,
    issuer: server.issuer,
    openLink,
  };
  await playStory(narration as Narration);
  return {
    operations: recorder.examples(),
    errors: values.stable(await recordErrors(server)) as RecordedExamples["errors"],
  };
}
