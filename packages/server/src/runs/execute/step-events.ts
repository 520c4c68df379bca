import type { RunInput } from "../../engine/messages.ts";
import { storableText } from "../../platform/storable-text.ts";
import type { RunStreams, StepEvent, ToolEvent } from "../../streams/run-streams.ts";
import { logLine } from "../record/run-log.ts";
import type { Attempt, LogLine, Progress } from "../run.ts";
import { displayModel } from "./run-rules.ts";

const maxReasonLength = 2000;

/** Why an attempt failed, as logs and events have it. */
export const toReason = (text: string): string => storableText(text, maxReasonLength);

/** Publishes the steps of a run to its readers. */
export type PublishStep = (run: RunInput, event: StepEvent | ToolEvent) => void;

/** Does not wait: a lost stream costs its events, not the run. Only runs that a client can follow publish events. */
export const createPublishStep =
  (streams: Pick<RunStreams, "append">): PublishStep =>
  (run, event) => {
    if (run.streamed) void streams.append(run.id, event, run);
  };

/** True whatever ended the attempt: the engine reports that the step has no result, not why. */
export const interruptedReason =
  "The worker was lost, or the step failed in the server, before the step had a result. It began again.";

/** How logs name an attempt of a step. The first attempt has no number. */
export type StepOfLog = Readonly<Record<string, unknown>> & { readonly kind: "model" | "tool" | "tools" | "memory" };

export const interruptedLine = (atMs: number, name: string, { kind, ...about }: StepOfLog): LogLine =>
  logLine(atMs, "warn", `Began again: ${name}`, { type: "interrupted", kind, ...about, reason: interruptedReason });

/** Only of a further attempt: most steps have one, and their lines stay as short as they were. */
export const attemptField = (tries: number): { readonly attempt?: number } => (tries > 1 ? { attempt: tries } : {});

/** The event fields of an attempt to call a model. */
export const modelEvent = (run: RunInput, { step }: Progress, { model, tries }: Attempt) =>
  ({ type: "step", kind: "model", step, name: displayModel(run, model), attempt: tries }) as const;
