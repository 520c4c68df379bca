import * as restate from "@restatedev/restate-sdk";
import type { RunInput, RunOutcome } from "../engine/messages.ts";
import { agentRuns, agentSessions } from "../engine/services.ts";
import type { ModelReply } from "../outbound/models/model.ts";
import type { RunTool, ToolResult } from "../outbound/tools/tool.ts";
import { afterTools, maxRetryAfterMs } from "../runs/execute/run-rules.ts";
import type { RunSteps } from "../runs/execute/run-steps.ts";
import {
  type Attempt,
  type Ended,
  firstAttempt,
  initialProgress,
  type LogLine,
  type Progress,
  type Recorded,
  type Retry,
} from "../runs/run.ts";
import { sendDelivery } from "./deliver-webhook.ts";
import { sendEmbed } from "./memory-services.ts";
import { retryStepUntilSuccess, serviceOptions } from "./retry-policies.ts";

const options = {
  ...serviceOptions,
  // A step may be one model call of 15 minutes.
  inactivityTimeout: { minutes: 16 },
  abortTimeout: { minutes: 1 },
};

/** Without a session there is no history to read and no turn to wait for: the run began when it was accepted. */
const initialProgressWithoutSession = (run: RunInput): Progress =>
  initialProgress(run.acceptedAtMs, { turn: 0, history: [] });

const stepName = (name: string, tries: number): string => (tries > 1 ? `${name} try ${tries}` : name);

/** Repeats a step, after a durable sleep, until it returns something other than `retry`. */
async function retryUntilSettled<T extends object>(
  context: restate.Context,
  name: string,
  step: (attempt: Attempt) => Promise<T | Retry>,
): Promise<T> {
  let attempt = firstAttempt;
  for (let tries = 1; ; tries++) {
    const now = attempt;
    const result = await context.run(stepName(name, tries), () => step(now), retryStepUntilSuccess);
    if (!("retry" in result)) return result as T;
    if (result.afterMs > 0) await context.sleep(result.afterMs);
    attempt = result.retry;
  }
}

/** Makes all calls of one reply concurrently. Transient failures are retried together in another round. */
async function callTools(
  context: restate.Context,
  run: RunInput,
  steps: RunSteps,
  at: { readonly progress: Progress; readonly reply: ModelReply; readonly tools: readonly RunTool[] },
): Promise<{ readonly results: ToolResult[]; readonly log: readonly LogLine[] }> {
  const results = new Map<number, ToolResult>();
  const log: LogLine[] = [];
  const { progress, reply, tools } = at;
  for (let tries = 1; ; tries++) {
    const open = reply.toolCalls.map((call, i) => ({ call, i })).filter(({ i }) => !results.has(i));
    const answers = await restate.RestatePromise.all(
      open.map(({ call, i }) =>
        context.run(
          stepName(`tool ${progress.step}.${i + 1} ${call.name}`, tries),
          () => steps.tool(run, progress, { call, callNumber: i + 1, tries, tools }),
          retryStepUntilSuccess,
        ),
      ),
    );
    for (const [n, answer] of answers.entries()) {
      const i = open[n]?.i ?? 0;
      log.push(...answer.log);
      if (!("retryAfterMs" in answer)) results.set(i, answer);
    }
    if (results.size === reply.toolCalls.length)
      return { results: reply.toolCalls.flatMap((_, i) => results.get(i) ?? []), log };
    await context.sleep(maxRetryAfterMs(answers));
  }
}

/** Few, large steps: each is repeated as a whole if the process dies within it. */
async function runAgent(context: restate.Context, run: RunInput, steps: RunSteps): Promise<RunOutcome> {
  const end = async (last: Ended, { session }: Progress): Promise<RunOutcome> => {
    const { unrecorded } = last;
    const { ended, toDeliver }: Recorded =
      unrecorded === null
        ? last
        : await context.run("record", () => steps.record(run, last.ended, session, unrecorded), retryStepUntilSuccess);
    for (const { id, webhookId } of toDeliver)
      sendDelivery(context, { organisationId: run.organisationId, id, webhookId, attempt: 1, deferred: 0 });
    return ended;
  };

  let progress: Progress =
    run.sessionId === null
      ? initialProgressWithoutSession(run)
      : await context.run("begin", () => steps.begin(run), retryStepUntilSuccess);
  if (run.definition.memory.recall) {
    const { recalled, log } = await context.run("recall", () => steps.recall(run), retryStepUntilSuccess);
    progress = { ...progress, recalled, log };
  }
  let tools: readonly RunTool[] = [];
  // A remote agent has tools of its own.
  if (run.definition.runtime.type === "model" && run.definition.tools.length > 0) {
    const before = progress;
    const listed = await retryUntilSettled(context, "tools", (attempt) => steps.tools(run, before, attempt));
    if ("ended" in listed) return end(listed, progress);
    tools = listed.tools;
    progress = { ...progress, log: [...progress.log, ...listed.log] };
  }
  for (;;) {
    const before = progress;
    const result = await retryUntilSettled(context, `model ${before.step}`, (attempt) =>
      steps.model(run, before, attempt, tools),
    );
    if ("ended" in result) return end(result, before);
    const { reply } = result;
    const called = await callTools(context, run, steps, { progress: before, reply, tools });
    const spent = { ...before, costMicros: before.costMicros + result.costMicros };
    progress = afterTools(spent, reply, called.results, [...result.log, ...called.log]);
  }
}

async function runAndRemember(context: restate.Context, run: RunInput, steps: RunSteps): Promise<RunOutcome> {
  const outcome = await runAgent(context, run, steps);
  // The run's memory is recorded with it; embedding it can happen after the answer.
  if (outcome.status === "completed" && run.definition.memory.remember) sendEmbed(context, run);
  return outcome;
}

/** Runs without a session are concurrent; within a session, one turn runs at a time, in order of arrival. */
export const runServices = (steps: RunSteps) =>
  [
    restate.service({
      name: agentRuns,
      handlers: { run: (context: restate.Context, run: RunInput) => runAndRemember(context, run, steps) },
      options,
    }),
    restate.object({
      name: agentSessions,
      handlers: { run: (context: restate.ObjectContext, run: RunInput) => runAndRemember(context, run, steps) },
      options,
    }),
  ] as const;
