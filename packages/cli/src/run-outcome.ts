import { randomUUID } from "node:crypto";
import type { InvocationResult, RunStream } from "@perch/sdk";
import type { Session } from "./command.ts";
import { type ActionRequired, printRun } from "./output/print-run.ts";
import { Interrupted, RunProblem } from "./problem.ts";

/** A run that a command waits for, and the words of messages about it. */
export interface WatchedRun {
  readonly agent: string;
  readonly stream: RunStream;
  /** Its conversation. */
  readonly session?: string | undefined;
  /** With which the same run can be asked for again, if it may not have been accepted. */
  readonly idempotencyKey?: string | undefined;
  /** Called when the run waits for a person. */
  readonly onActionRequired?: ((event: ActionRequired) => Promise<void>) | undefined;
}

export const newIdempotencyKey = (): string => `cli-${randomUUID()}`;

/**
 * Prints the run and returns its result. Whatever ends it early becomes an error that names the run and the next step.
 */
export async function watchRun(session: Session, run: WatchedRun): Promise<InvocationResult> {
  const { terminal, isJson, signal } = session;
  const { agent, stream, idempotencyKey } = run;
  try {
    if (!isJson) await printRun(terminal, stream, run);
    return await stream.result();
  } catch (error) {
    const named = { agent, runId: stream.runId, idempotencyKey };
    throw signal.aborted
      ? new Interrupted(named, signal.reason === "SIGTERM" ? 143 : 130)
      : new RunProblem(named, error);
  }
}
