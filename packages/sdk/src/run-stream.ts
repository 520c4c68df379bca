import { createError } from "./create-error.ts";
import { ActionRequiredError, type Origin } from "./errors.ts";
import { follow, type Source } from "./follow.ts";
import type {
  ActionRequiredEvent,
  DroppedEvent,
  InvocationResult,
  RunErrorEvent,
  StepEvent,
  TokenEvent,
  ToolEvent,
} from "./generated-schemas.ts";
import type { SentEvent } from "./read-events.ts";
import { sleep } from "./time-limits.ts";

/** A piece of the model's text: it replaces the step's text from `offset` on. `snapshot` is the step's whole text so far. */
export type RunToken = { readonly type: "token"; readonly snapshot: string } & Readonly<TokenEvent>;
/** A model call, the listing of tools or the recall of memories begins or ends, or waits for its next attempt. */
export type RunStepEvent = { readonly type: "step" } & Readonly<StepEvent>;
/** A tool call begins or ends, or waits for its next attempt. */
export type RunTool = { readonly type: "tool" } & Readonly<ToolEvent>;
/**
 * Events are missing, because the organisation's streams have reached the limit of their buffers. The run goes on, and
 * `done` has the whole response.
 */
export type RunDropped = { readonly type: "dropped" } & Readonly<DroppedEvent>;
/** The run waits for a person. The last event, unless the stream was opened with `waitForDecision`. */
export type RunActionRequired = { readonly type: "action_required" } & Readonly<ActionRequiredEvent>;
/** The run completed. The last event. */
export type RunDone = { readonly type: "done" } & Readonly<InvocationResult>;
/** An event of a run. */
export type RunStreamEvent = RunToken | RunStepEvent | RunTool | RunDropped | RunActionRequired | RunDone;

/** The answer to a request that waits for the run. */
const statuses: Partial<Record<RunErrorEvent["code"], number>> = { conflict: 409, run_failed: 422, server_error: 500 };

/** Delays between two requests for a run that waits for a person. */
const minPollMs = 500;
const maxPollMs = 5000;

interface RunStreamOptions {
  readonly runId?: string;
  readonly lastEventId?: string | undefined;
  readonly waitForDecision?: boolean | undefined;
  /** The stream of a run that goes on: by its id, because its `Idempotency-Key` may be forgotten by then. */
  readonly continued: (runId: string) => Source;
}

/** The run's id is the last part of its URL. */
const idIn = (location: string | null): string | undefined => location?.split("/").at(-1);

/** The error of a run that waits for a person, the same wherever that was learnt. */
export const waitingError = (
  failure: Origin & { readonly message: string },
  runId: string,
  approvalIds: readonly string[],
): ActionRequiredError =>
  new ActionRequiredError({
    ...failure,
    status: 409,
    code: "action_required",
    details: [{ field: "request_id", error: runId }, ...approvalIds.map((error) => ({ field: "approval_id", error }))],
  });

/**
 * The event stream of a run. Iterate over its events, or wait for its result. It reconnects by itself and continues after the last event.
 * Leaving the loop closes the connection and does not stop the run; another loop, or `result()`, continues from there.
 *
 * If the run waits for a person, the stream ends after the event `action_required`, and `result()` rejects with an
 * `ActionRequiredError`. With `waitForDecision` it waits, and goes on after the decision.
 *
 * @example
 * ```ts
 * const stream = perch.agents.invokeStream("support-bot", { message: "Where is order 42?" });
 * for await (const event of stream) if (event.type === "token") show(event.snapshot);
 * const { tokens_used } = await stream.result();
 * ```
 */
export class RunStream implements AsyncIterable<RunStreamEvent> {
  readonly #options: RunStreamOptions;
  #source: Source;
  #lastEventId: string | undefined;
  #runId: string | undefined;
  #origin: Origin = {};
  #step = 0;
  #text = "";
  #isBeingRead = false;
  #result: InvocationResult | undefined;
  #error: Error | undefined;
  /** Set once the run has waited for a person. */
  #required: ActionRequiredError | undefined;
  readonly #seenApprovals = new Set<string>();

  /** @internal */
  constructor(source: Source, options: RunStreamOptions) {
    this.#source = source;
    this.#options = options;
    this.#runId = options.runId;
    this.#lastEventId = options.lastEventId;
  }

  /** `request_id` of the run, for `runs.get` and `runs.cancel`; undefined until the server has responded. */
  get runId(): string | undefined {
    return this.#runId;
  }

  /** Id of the last event that was read, for `runs.follow`; undefined until there is one. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  /**
   * The result, as `agents.invoke` returns it. Rejects with a `RunFailedError` if the run failed, and with an `ActionRequiredError` if it
   * waits for a person.
   */
  async result(): Promise<InvocationResult> {
    for await (const _ of this);
    if (this.#result === undefined)
      throw this.#error ?? this.#required ?? new Error("The stream was closed before its end.");
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
      // The first request has no pause, because the caller may have decided already.
      let pollMs = 0;
      while (!this.#hasEnded()) {
        if (this.#required) {
          await sleep(pollMs, this.#source.signal);
          pollMs = Math.min(Math.max(pollMs * 1.5, minPollMs), maxPollMs);
        }
        for await (const event of this.#read()) {
          pollMs = 0;
          yield event;
        }
      }
    } finally {
      this.#isBeingRead = false;
    }
  }

  #hasEnded(): boolean {
    return this.#result !== undefined || (this.#required !== undefined && !this.#options.waitForDecision);
  }

  /** Reads until the run ends, or waits for a person. */
  async *#read(): AsyncGenerator<RunStreamEvent, void> {
    for await (const sent of follow({ ...this.#source, lastEventId: this.#lastEventId, onOpen: this.#onOpen })) {
      this.#lastEventId = sent.id;
      const event = this.#take(sent);
      if (event) yield event;
      if (sent.event === "done" || sent.event === "action_required") return;
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
    if (event === "action_required") return this.#actionRequired(JSON.parse(data) as ActionRequiredEvent);
    if (event === "error") throw this.#failed(JSON.parse(data) as RunErrorEvent);
    return undefined;
  }

  /**
   * A run that still waits reports so on every request, but that is an event only if there is something new to decide.
   */
  #actionRequired(event: ActionRequiredEvent): RunActionRequired | undefined {
    const { request_id, message, approvals } = event;
    const isNew = !this.#required || approvals.some(({ id }) => !this.#seenApprovals.has(id));
    for (const { id } of approvals) this.#seenApprovals.add(id);
    this.#runId = request_id;
    this.#source = this.#options.continued(request_id);
    this.#required = waitingError(
      { ...this.#origin, message },
      request_id,
      approvals.map(({ id }) => id),
    );
    return isNew ? { type: "action_required", ...event } : undefined;
  }

  #token(token: TokenEvent): RunToken {
    if (token.step !== this.#step) this.#text = "";
    this.#step = token.step;
    this.#text = this.#text.slice(0, token.offset) + token.text;
    return { type: "token", ...token, snapshot: this.#text };
  }

  /** The same error as without a stream, which has the run's id in the details. */
  #failed({ code, message, retryable, request_id }: RunErrorEvent): Error {
    this.#runId = request_id;
    const details = [{ field: "request_id", error: request_id }];
    this.#error = createError({ ...this.#origin, status: statuses[code], code, message, retryable, details });
    return this.#error;
  }
}
