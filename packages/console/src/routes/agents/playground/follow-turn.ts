import type { Logger, RunStream } from "@perch/sdk";
import type { ArrivedEvent } from "../../../run-trace/trace-of-events.ts";

/** Only the newest snapshot of a text counts, so that a fast stream costs as much as a slow one. */
export function pushEvent(pending: ArrivedEvent[], arrived: ArrivedEvent): void {
  const last = pending.at(-1)?.event;
  const replaces = arrived.event.type === "token" && last?.type === "token" && last.step === arrived.event.step;
  if (replaces) pending.pop();
  pending.push(arrived);
}

/** Before the next frame. A hidden page has no frames, so a timer takes their place. */
function beforeNextFrame(work: () => void): void {
  if (document.hidden) setTimeout(work, 250);
  else requestAnimationFrame(work);
}

/** Reads a stream to its end, and passes its events on at most once per frame. Throws the stream's error after the last event. */
export async function readInFrames(
  stream: RunStream,
  onEvents: (events: readonly ArrivedEvent[]) => void,
): Promise<void> {
  const pending: ArrivedEvent[] = [];
  let isScheduled = false;
  const flush = () => {
    isScheduled = false;
    if (pending.length > 0) onEvents(pending.splice(0));
  };
  try {
    for await (const event of stream) {
      pushEvent(pending, { event, atMs: Date.now() });
      if (isScheduled) continue;
      isScheduled = true;
      beforeNextFrame(flush);
    }
  } finally {
    flush();
  }
}

/**
 * Reports the state of the connection: `undefined` when it is (again) established. The status is that of a response that will be retried.
 */
export const connectionLogger = (onTrouble: (trouble: string | undefined, status?: unknown) => void): Logger => ({
  debug: (message) => {
    if (message === "response") onTrouble(undefined);
  },
  info: (_, { status, code }) =>
    onTrouble(
      status === undefined
        ? "The connection is lost. This page tries again; a run that began goes on."
        : `The server answered ${status} ${code ?? ""}. This page tries again.`.replace(" .", "."),
      status,
    ),
});
