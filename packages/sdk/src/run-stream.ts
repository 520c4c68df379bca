import { createError } from "./create-error.ts";
import type { Origin } from "./errors.ts";
import { follow, type Source } from "./follow.ts";
import type {
  DroppedEvent,
  InvocationResult,
  RunErrorEvent,
  StepEvent,
  TokenEvent,
  ToolEvent,
} from "./generated-schemas.ts";
import type { SentEvent } from "./read-events.ts";

/** A piece of the model's text: it replaces the step's text from `offset` on. `snapshot` is the step's whole text so far. */
export type RunToken = { readonly type: "token"; readonly snapshot: string } & Readonly<TokenEvent>;
/** A model call, the listing of tools or the recall of memories begins or ends, or waits for its next attempt. */
export type RunStepEvent = { readonly type: "step" } & Readonly<StepEvent>;
/** A tool call begins or ends, or waits for its next attempt. */
export type RunTool = { readonly type: "tool" } & Readonly<ToolEvent>;
/** Events are missing, because the organisation's streams hold as much as they may. The run goes on, and `done` has the whole response. */
export type RunDropped = { readonly type: "dropped" } & Readonly<DroppedEvent>;
/** The run completed. The last event. */
export type RunDone = { readonly type: "done" } & Readonly<InvocationResult>;
/** An event of a run. */
export type RunStreamEvent = RunToken | RunStepEvent | RunTool | RunDropped | RunDone;

/** What a request that waits for the run is answered with. */
const statuses: Partial<Record<RunErrorEvent["code"], number>> = { conflict: 409, run_failed: 422, server_error: 500 };

/** The run's id is the last part of its URL. */
const idIn = (location: string | null): string | undefined => location?.split("/").at(-1);

/**
 * The event stream of a run. Iterate over its events, or wait for its result. It reconnects by itself and continues after the last event.
 * Leaving the loop closes the connection and does not stop the run; another loop, or `result()`, continues from there.
 *
 * @example
 * ```ts
 * const stream = perch.agents.invokeStream("support-bot", { message: "Where is order 42?" });
 * for await (const event of stream) if (event.type === "token") show(event.snapshot);
 * const { tokens_used } = await stream.result();
 * ```
 */
export class RunStream implements AsyncIterable<RunStreamEvent> {
  readonly #source: Source;
  #lastEventId: string | undefined;
  #runId: string | undefined;
  #origin: Origin = {};
  #step = 0;
  #text = "";
  #isBeingRead = false;
  #result: InvocationResult | undefined;
  #error: Error | undefined;

  /** @internal */
  constructor(source: Source, runId?: string) {
    this.#source = source;
    this.#runId = runId;
  }

  /** `request_id` of the run, for `runs.get` and `runs.cancel`; undefined until the server has responded. */
  get runId(): string | undefined {
    return this.#runId;
  }

  /** The result, as `agents.invoke` returns it. Rejects with a `RunFailedError` if the run failed. */
  async result(): Promise<InvocationResult> {
    for await (const _ of this);
    if (this.#result === undefined) throw this.#error ?? new Error("The stream was closed before its end.");
    return this.#result;
  }

  /** The response of the run. */
  async text(): Promise<string> {
    return (await this.result()).response;
  }

  /** The events that have not been read yet. Throws a `RunFailedError` if the run failed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<RunStreamEvent, void> {
    if (this.#isBeingRead) throw new Error("This stream is being read already.");
    this.#isBeingRead = true;
    try {
      if (this.#error) throw this.#error;
      if (this.#result) return;
      for await (const sent of follow({ ...this.#source, lastEventId: this.#lastEventId, onOpen: this.#onOpen })) {
        this.#lastEventId = sent.id;
        const event = this.#take(sent);
        if (event) yield event;
        if (event?.type === "done") return;
      }
    } finally {
      this.#isBeingRead = false;
    }
  }

  readonly #onOpen: NonNullable<Source["onOpen"]> = ({ headers, origin }) => {
    this.#origin = origin;
    this.#runId ??= idIn(headers.get("location"));
  };

  /** Parses an event; undefined for types that this version does not know. */
  #take({ event, data }: SentEvent): RunStreamEvent | undefined {
    if (event === "token") return this.#token(JSON.parse(data) as TokenEvent);
    if (event === "step") return { type: "step", ...(JSON.parse(data) as StepEvent) };
    if (event === "tool") return { type: "tool", ...(JSON.parse(data) as ToolEvent) };
    if (event === "dropped") return { type: "dropped", ...(JSON.parse(data) as DroppedEvent) };
    if (event === "done") {
      this.#result = JSON.parse(data) as InvocationResult;
      this.#runId = this.#result.request_id;
      return { type: "done", ...this.#result };
    }
    if (event === "error") throw this.#failed(JSON.parse(data) as RunErrorEvent);
    return undefined;
  }

  #token(token: TokenEvent): RunToken {
    if (token.step !== this.#step) this.#text = "";
    this.#step = token.step;
    this.#text = this.#text.slice(0, token.offset) + token.text;
    return { type: "token", ...token, snapshot: this.#text };
  }

  /** The same error as without a stream, where the run's id is in the details. */
  #failed({ code, message, retryable, request_id }: RunErrorEvent): Error {
    this.#runId = request_id;
    const details = [{ field: "request_id", error: request_id }];
    this.#error = createError({ ...this.#origin, status: statuses[code], code, message, retryable, details });
    return this.#error;
  }
}
