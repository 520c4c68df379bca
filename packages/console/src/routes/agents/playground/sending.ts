import { ConnectionError, type Perch, type RunStream } from "@perch/sdk";
import { createPerch, perch } from "../../../api/perch.ts";
import { connectionLogger } from "./follow-turn.ts";
import { StoppedUnsentError } from "./turn.ts";

/** The same number of retries as for any other change. A message must not be sent by itself minutes later. */
const retriesUnsent = 2;
/** After a stop, the page waits this long for the server to accept the message. */
const acceptedWithinMs = 2000;

/** A message on its way, or a run that is followed. */
export interface Sending {
  readonly stream: RunStream;
  /** Whether the last request got no response, or one that will be retried. */
  readonly isInTrouble: () => boolean;
  /** Aborts the requests. An accepted run goes on. */
  readonly giveUp: (reason: Error) => void;
}

/** Follows a run through lost connections, but gives up on a message that cannot be sent. */
export function startSending(
  open: (client: Perch, signal: AbortSignal) => RunStream,
  leaving: AbortSignal,
  onTrouble: (trouble: string | undefined) => void,
): Sending {
  const own = new AbortController();
  let failures = 0;
  const logger = connectionLogger((trouble, status) => {
    onTrouble(trouble);
    failures = trouble === undefined ? 0 : failures + 1;
    if (failures <= retriesUnsent || stream.runId !== undefined || status !== undefined) return;
    own.abort(new ConnectionError({ code: "connection_failed", message: "The message could not be sent." }));
  });
  const stream = open(createPerch(logger), AbortSignal.any([leaving, own.signal]));
  return { stream, isInTrouble: () => failures > 0, giveUp: (reason) => own.abort(reason) };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Cancels the run. It has an id as soon as the server has accepted it; a message that cannot be sent is abandoned. */
export async function stopSending(agent: string, sending: Sending, isOver: () => boolean): Promise<void> {
  const { stream, isInTrouble, giveUp } = sending;
  const untilMs = performance.now() + acceptedWithinMs;
  while (stream.runId === undefined && !isOver() && !isInTrouble() && performance.now() < untilMs) await pause(50);
  if (isOver()) return;
  if (stream.runId === undefined) giveUp(new StoppedUnsentError());
  else await perch.runs.cancel(agent, stream.runId);
}
