import type { ServerEvent } from "../handlers.ts";
import { toPublicId } from "../platform/ids.ts";
import type { RunStreams, StoredEvent } from "../streams/run-streams.ts";
import type { RunOutcome } from "./run.ts";
import { toResult } from "./to-invocation.ts";

interface FollowDeps {
  readonly streams: RunStreams;
  /** How the run ended, once it has. */
  readonly findOutcome: () => Promise<RunOutcome | undefined>;
}

interface Following {
  readonly runId: string;
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal;
}

/** Ids of the events that are made here and stand in no stream. */
const restId = "rest";
const endId = "end";

/** Ids of a stream are two numbers: time and count. */
const numbersOf = (id: string): readonly [bigint, bigint] => {
  const [ms = 0n, count = 0n] = id.split("-").map(BigInt);
  return [ms, count];
};

/** What a client that comes back has seen; anything but an id of ours is nothing. */
interface Seen {
  readonly lastEventId: string | undefined;
  readonly isAfter: (id: string) => boolean;
}

function seenBy(lastEventId: string | undefined): Seen {
  if (lastEventId === restId || lastEventId === endId) return { lastEventId, isAfter: () => false };
  if (lastEventId === undefined || !/^\d{1,19}-\d{1,19}$/.test(lastEventId))
    return { lastEventId: undefined, isAfter: () => true };
  const [lastMs, lastCount] = numbersOf(lastEventId);
  return {
    lastEventId,
    isAfter: (id) => {
      const [ms, count] = numbersOf(id);
      return ms > lastMs || (ms === lastMs && count > lastCount);
    },
  };
}

interface Said {
  readonly step: number;
  readonly text: string;
}

const nothing: Said = { step: 0, text: "" };

function heard(said: Said, { event }: StoredEvent): Said {
  if (event.type !== "token") return said;
  const before = event.step === said.step ? said.text : "";
  return { step: event.step, text: before.slice(0, event.offset) + event.text };
}

function samePrefix(a: string, b: string): number {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i++;
  return i;
}

function* ending(
  runId: string,
  outcome: RunOutcome,
  said: Said,
  lastEventId: string | undefined,
): Generator<ServerEvent> {
  if (outcome.status !== "completed") {
    const code = outcome.status === "cancelled" ? "conflict" : "server_error";
    const data = { code, message: outcome.error, request_id: toPublicId("request", runId) };
    yield { id: endId, event: "error", data };
    return;
  }
  const { response, steps: step } = outcome;
  const before = step === said.step ? said.text : "";
  // What the stream did not bring: it was lost, or has expired, or was never asked for.
  if (before !== response && lastEventId !== restId && lastEventId !== endId) {
    const offset = samePrefix(before, response);
    yield { id: restId, event: "token", data: { step, offset, text: response.slice(offset) } };
  }
  yield { id: endId, event: "done", data: toResult(runId, outcome) };
}

/**
 * What a run says and does, to its end. The stream is read from its beginning, so it is known what a client that comes back has
 * seen; the record has the last word, so the text is whole even if the stream is not.
 */
export async function* followRun(
  { streams, findOutcome }: FollowDeps,
  following: Following,
): AsyncGenerator<ServerEvent> {
  const { runId, signal } = following;
  const { lastEventId, isAfter } = seenBy(following.lastEventId);
  // A stream that was lost and began anew may not know the event: then nobody knows what the client has.
  let isPlaced = lastEventId === undefined || lastEventId === restId || lastEventId === endId;
  let said = nothing;
  for await (const page of streams.read(runId, undefined, signal)) {
    let ended = page.length === 0;
    for (const stored of page) {
      const { id, event } = stored;
      said = heard(said, stored);
      isPlaced ||= id === lastEventId;
      if (event.type === "end") ended = true;
      else if (isAfter(id)) {
        const { type, ...data } = event;
        yield { id, event: type, data };
      }
    }
    const outcome = ended ? await findOutcome() : undefined;
    if (outcome) return yield* ending(runId, outcome, isPlaced ? said : nothing, lastEventId);
  }
}
