import * as restate from "@restatedev/restate-sdk";
import { agentRuns, agentSessions } from "../engine/services.ts";
import { beginning, type Progress, type RunInput, type RunOutcome } from "../invocations/run.ts";
import type { RunSteps } from "../invocations/run-steps.ts";

/** A step that fails is tried again until it succeeds: what ends a run is decided inside the steps. */
const untilItWorks = { initialRetryInterval: 100, retryIntervalFactor: 2, maxRetryInterval: 5000 };

const options = {
  // A step may be one model call of 15 minutes.
  inactivityTimeout: { minutes: 16 },
  abortTimeout: { minutes: 1 },
  // The record in the database answers later retries; the engine need only cover those that come while it is being read.
  idempotencyRetention: { hours: 1 },
  journalRetention: 0,
  retryPolicy: {
    initialInterval: 100,
    exponentiationFactor: 2,
    maxInterval: 5000,
    maxAttempts: 100_000,
    onMaxAttempts: "pause" as const,
  },
};

/** Without a session there is nothing to wait for or to read: the run began when it was accepted. */
const withoutSession = (run: RunInput): Progress => beginning(run.acceptedAtMs, { turn: 0, history: [] });

/** Few, fat steps: each holds all that may be done again together if the process dies within it. */
async function runAgent(context: restate.Context, run: RunInput, steps: RunSteps): Promise<RunOutcome> {
  let progress: Progress =
    run.sessionId === null ? withoutSession(run) : await context.run("begin", () => steps.begin(run), untilItWorks);
  for (;;) {
    const before = progress;
    const result = await context.run(`model ${before.step}`, () => steps.model(run, before), untilItWorks);
    if ("next" in result) {
      progress = result.next;
      continue;
    }
    const { ended, session, recorded } = result;
    return recorded ? ended : context.run("record", () => steps.record(run, ended, session), untilItWorks);
  }
}

/** Runs side by side without a session, and one turn at a time, in order of arrival, within one. */
export const runServices = (steps: RunSteps) =>
  [
    restate.service({
      name: agentRuns,
      handlers: { run: (context: restate.Context, run: RunInput) => runAgent(context, run, steps) },
      options,
    }),
    restate.object({
      name: agentSessions,
      handlers: { run: (context: restate.ObjectContext, run: RunInput) => runAgent(context, run, steps) },
      options,
    }),
  ] as const;
