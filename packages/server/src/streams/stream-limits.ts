import type { RunEvent } from "./run-streams.ts";

/** After the last event of a run. Longer than any model keeps silent within a step. */
export const keptMs = 15 * 60_000;

/** After its end: the record has the whole text by then. */
export const keptAfterEndMs = 2 * 60_000;

export const keptAfter = ({ type }: RunEvent): number => (type === "end" ? keptAfterEndMs : keptMs);

/** Of one step: more is not kept of an answer either. */
export const mostTextLength = 1024 * 1024;

/** Of one run. Tokens past it are not kept: what is there has no holes, and the record has the whole text in the end. */
export const mostStreamBytes = 4 * 1024 * 1024;

/** What is kept of an event, other than a token, when its run has said too much. */
export function withoutArguments(event: RunEvent): RunEvent {
  if (event.type !== "tool") return event;
  const { arguments: _, ...rest } = event;
  return rest;
}
