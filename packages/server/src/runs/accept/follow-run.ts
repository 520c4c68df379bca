import type { Database } from "../../db/database.ts";
import type { RunOutcome, RunResult, WaitingOutcome } from "../../engine/messages.ts";
import { ShareRefusal } from "../../fairness/shares.ts";
import type { RunSlots } from "../../limits/run-slots.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { toPublicId } from "../../platform/ids.ts";
import { EventStream, type RequestContext, type ServerEvent } from "../../resources/handlers.ts";
import type { RunEvent, RunStreams, StoredEvent } from "../../streams/run-streams.ts";
import { findResult } from "../record/find-outcome.ts";
import { failureOf, toResult } from "../record/to-invocation.ts";
import { describeWaiting } from "./describe-waiting.ts";

interface ReadDeps {
  readonly streams: RunStreams;
  /** The end of the run, once it has ended, or the actions that it waits for. */
  readonly findResult: () => Promise<RunResult | undefined>;
}

interface ReadRequest {
  readonly runId: string;
  /** The address at which the run can be followed. */
  readonly location: string;
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal;
  /** Whether the reader may see the outputs of tools. */
  readonly showsContents: boolean;
}

/** Ids of the events that are created here and are not stored in the stream. */
const restId = "rest";
const endId = "end";

/** Comes before all stored events. */
const beforeAllId = "0-0";
const streamIdPattern = /^\d{1,19}-\d{1,19}$/;

/** A stream id is two numbers: time and count. */
const parseStreamId = (id: string): readonly [bigint, bigint] => {
  const [ms = 0n, count = 0n] = id.split("-").map(BigInt);
  return [ms, count];
};

/** The events that a reconnecting client has already received. An unknown Last-Event-ID counts as none. */
interface ResumePoint {
  readonly lastEventId: string | undefined;
  readonly isAfter: (id: string) => boolean;
}

function parseLastEventId(lastEventId: string | undefined): ResumePoint {
  if (lastEventId === restId || lastEventId === endId) return { lastEventId, isAfter: () => false };
  if (lastEventId === undefined || !streamIdPattern.test(lastEventId))
    return { lastEventId: undefined, isAfter: () => true };
  const [lastMs, lastCount] = parseStreamId(lastEventId);
  return {
    lastEventId,
    isAfter: (id) => {
      const [ms, count] = parseStreamId(id);
      return ms > lastMs || (ms === lastMs && count > lastCount);
    },
  };
}

interface StepText {
  readonly step: number;
  readonly text: string;
}

const noText: StepText = { step: 0, text: "" };

function applyEvent(streamedText: StepText, { event }: StoredEvent): StepText {
  if (event.type !== "token") return streamedText;
  const before = event.step === streamedText.step ? streamedText.text : "";
  return { step: event.step, text: before.slice(0, event.offset) + event.text };
}

function commonPrefixLength(a: string, b: string): number {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i++;
  return i;
}

function* createEndEvents(
  runId: string,
  outcome: RunOutcome,
  streamedText: StepText,
  lastEventId: string | undefined,
): Generator<ServerEvent> {
  if (outcome.status !== "completed") {
    const failure = outcome.status === "cancelled" ? { code: "conflict" } : failureOf(outcome);
    const data = { ...failure, message: outcome.error, request_id: toPublicId("request", runId) };
    yield { id: endId, event: "error", data };
    return;
  }
  const { response, steps: step } = outcome;
  const before = step === streamedText.step ? streamedText.text : "";
  // The text that was not streamed: the stream was lost, has expired, or was never written.
  if (before !== response && lastEventId !== restId && lastEventId !== endId) {
    const offset = commonPrefixLength(before, response);
    yield { id: restId, event: "token", data: { step, offset, text: response.slice(offset) } };
  }
  yield { id: endId, event: "done", data: toResult(runId, outcome) };
}

/**
 * Its id is that of the last event before it, so that a client which reconnects gets the following ones: events after
 * the decision are appended to the stream, or begin another one if the stream has expired.
 */
function createActionEvent(
  { runId, location }: ReadRequest,
  waiting: WaitingOutcome,
  lastId: string | undefined,
): ServerEvent {
  const message = `${describeWaiting(waiting)} Then follow the run again at ${location}, with this event's id as Last-Event-ID.`;
  const approvals = waiting.actions.map(({ id, kind, tool, step, call }) => ({
    id: toPublicId("approval", id),
    kind,
    tool,
    step,
    call,
  }));
  const id = lastId !== undefined && streamIdPattern.test(lastId) ? lastId : beforeAllId;
  return { id, event: "action_required", data: { request_id: toPublicId("request", runId), message, approvals } };
}

/** A program that can write to Valkey must not end a client's stream with an answer of its own. */
const storedTypes: ReadonlySet<string> = new Set<RunEvent["type"]>(["token", "step", "tool", "dropped"]);

function toServerEvent(event: RunEvent, showsContents: boolean): Pick<ServerEvent, "event" | "data"> {
  const { type, ...data } = event;
  if (event.type === "tool" && !showsContents) return { event: type, data: { ...data, output: undefined } };
  if (event.type !== "dropped") return { event: type, data };
  const message = `The streams of this organisation hold as much as they may (${event.maxBytes / 2 ** 20} MiB), so events of this run are missing. The run goes on: wait for \`done\`, which has the whole response, or follow fewer runs at once.`;
  return { event: type, data: { message } };
}

/**
 * Yields the events of a run until it ends or waits for a person. The stream is read from its start, to know which
 * events a reconnecting client has received. The final text comes from the recorded run, so it is complete even if the
 * stream is not.
 */
export async function* readRunEvents(
  { streams, findResult }: ReadDeps,
  request: ReadRequest,
): AsyncGenerator<ServerEvent> {
  const { runId, signal, showsContents } = request;
  const { lastEventId, isAfter } = parseLastEventId(request.lastEventId);
  // A stream that was lost and restarted does not have the event: then the client's text is unknown.
  let lastEventFound = lastEventId === undefined || lastEventId === restId || lastEventId === endId;
  let streamedText = noText;
  let lastStoredId: string | undefined;
  for await (const page of streams.read(runId, undefined, signal)) {
    let ended = page.length === 0;
    for (const stored of page) {
      const { id, event } = stored;
      streamedText = applyEvent(streamedText, stored);
      lastStoredId = id;
      lastEventFound ||= id === lastEventId;
      if (event.type === "end") ended = true;
      else if (isAfter(id) && storedTypes.has(event.type)) yield { id, ...toServerEvent(event, showsContents) };
    }
    const result = ended ? await findResult() : undefined;
    if (result?.status === "waiting") return yield createActionEvent(request, result, lastStoredId ?? lastEventId);
    if (result) return yield* createEndEvents(runId, result, lastEventFound ? streamedText : noText, lastEventId);
  }
}

/**
 * A response that sends the events of a run until it has ended or waits for a person. The outputs of tools are only for
 * callers that may read the run's steps: a key that may only run the agent often serves its users.
 */
export type FollowRun = (
  run: AgentKey & { readonly id: string },
  context: Pick<RequestContext, "caller" | "events">,
  headers: Readonly<Record<string, string>>,
) => EventStream;

interface FollowDeps {
  readonly db: Database;
  readonly slots: RunSlots;
  readonly streams: RunStreams;
}

/** An organisation that holds its share of the database asks again with the next page. */
function undefinedIfRefused(error: unknown): undefined {
  if (!(error instanceof ShareRefusal)) throw error;
}

export const createFollowRun =
  ({ db, slots, streams }: FollowDeps): FollowRun =>
  (run, { caller, events }, headers) =>
    new EventStream(headers, (signal) => {
      const findResultAndRelease = async () => {
        const result = await findResult(db, run).catch(undefinedIfRefused);
        if (result) await slots.releaseLocal(run);
        return result;
      };
      const showsContents = caller.permissions.has("read");
      const location = `/v1/agents/${toPublicId("agent", run.agentId)}/invocations/${toPublicId("request", run.id)}`;
      const request = { runId: run.id, location, lastEventId: events?.lastEventId, signal, showsContents };
      return readRunEvents({ streams, findResult: findResultAndRelease }, request);
    });
