import type { Tier } from "@perch/contract";
import type { RunEvent, StepEvent, ToolEvent } from "./run-streams.ts";

/** How long a stream is stored after the last event of a run. Longer than any pause of a model within a step. */
export const streamTtlMs = 15 * 60_000;

/** How long a stream is stored after the run's end, when the record has the whole text. */
export const endedStreamTtlMs = 2 * 60_000;

export const ttlAfter = ({ type }: RunEvent): number => (type === "end" ? endedStreamTtlMs : streamTtlMs);

/** The limit for one step, and also for the stored answer. */
export const maxTextLength = 1024 * 1024;

/**
 * The limit for one run. Tokens beyond it are dropped: the stored text has no gaps, and the record has all of it in the
 * end.
 */
export const maxStreamBytes = 4 * 1024 * 1024;

/** The limit for all runs of an organisation in Valkey. Events beyond it are dropped, and the runs go on. */
export const maxStreamBytesOf: Readonly<Record<Tier, number>> = {
  free: 8 * 1024 * 1024,
  pro: 64 * 1024 * 1024,
  enterprise: 512 * 1024 * 1024,
};

const maxReasonOfFull = 200;

const shortenReason = <T extends StepEvent | Omit<ToolEvent, "arguments" | "output">>(event: T): T =>
  event.reason === undefined ? event : { ...event, reason: event.reason.slice(0, maxReasonOfFull).toWellFormed() };

/** The stored form of an event, other than a token, once its run's stream is full. */
export function withoutContents(event: RunEvent): RunEvent {
  if (event.type === "step") return shortenReason(event);
  if (event.type !== "tool") return event;
  const { arguments: _, output: __, ...rest } = event;
  return shortenReason(rest);
}
