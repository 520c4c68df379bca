import * as restate from "@restatedev/restate-sdk";
import { agentRuns, agentSessions } from "../engine/services.ts";
import {
  type Again,
  type Attempt,
  beginning,
  type Ended,
  firstAttempt,
  type LogLine,
  type Progress,
  type Recorded,
  type RunInput,
  type RunOutcome,
} from "../invocations/run.ts";
import { afterTools, longestWaitMs } from "../invocations/run-rules.ts";
import type { RunSteps } from "../invocations/run-steps.ts";
import type { ModelReply } from "../models/model.ts";
import type { ToolResult } from "../tools/call-tool.ts";
import type { RunTool } from "../tools/tool-set.ts";
import { sendDelivery } from "./deliver-webhook.ts";
import { askToEmbed } from "./keep-memory.ts";
import { untilItWorks } from "./until-it-works.ts";

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

const tryName = (name: string, tries: number): string => (tries > 1 ? `${name} try ${tries}` : name);

/** A step that says "again" is tried again after a durable sleep: no process has to live through it. */
async function insist<T extends object>(
  context: restate.Context,
  name: string,
  step: (attempt: Attempt) => Promise<T | Again>,
): Promise<T> {
  let attempt = firstAttempt;
  for (let tries = 1; ; tries++) {
    const now = attempt;
    const result = await context.run(tryName(name, tries), () => step(now), untilItWorks);
    if (!("again" in result)) return result as T;
    if (result.afterMs > 0) await context.sleep(result.afterMs);
    attempt = result.again;
  }
}

/** All calls of one reply at once. Those that failed in passing go into another round together. */
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
          tryName(`tool ${progress.step}.${i + 1} ${call.name}`, tries),
          () => steps.tool(run, progress, { call, place: i + 1, tries, tools }),
          untilItWorks,
        ),
      ),
    );
    for (const [n, answer] of answers.entries()) {
      const i = open[n]?.i ?? 0;
      log.push(...answer.log);
      if (!("againAfterMs" in answer)) results.set(i, answer);
    }
    if (results.size === reply.toolCalls.length)
      return { results: reply.toolCalls.flatMap((_, i) => results.get(i) ?? []), log };
    await context.sleep(longestWaitMs(answers));
  }
}

/** Few, fat steps: each holds all that may be done again together if the process dies within it. */
async function runAgent(context: restate.Context, run: RunInput, steps: RunSteps): Promise<RunOutcome> {
  const end = async (last: Ended, { session }: Progress): Promise<RunOutcome> => {
    const { unrecorded } = last;
    const { ended, toDeliver = [] }: Recorded =
      unrecorded === null
        ? last
        : await context.run("record", () => steps.record(run, last.ended, session, unrecorded), untilItWorks);
    for (const { id, webhookId } of toDeliver)
      sendDelivery(context, { organisationId: run.organisationId, id, webhookId, attempt: 1, deferred: 0 });
    return ended;
  };

  let progress: Progress =
    run.sessionId === null ? withoutSession(run) : await context.run("begin", () => steps.begin(run), untilItWorks);
  if (run.definition.memory?.recall) {
    const { recalled, log } = await context.run("recall", () => steps.recall(run), untilItWorks);
    progress = { ...progress, recalled, log };
  }
  let tools: readonly RunTool[] = [];
  // A remote agent has tools of its own.
  if (run.definition.runtime.type === "model" && run.definition.tools.length > 0) {
    const before = progress;
    const listed = await insist(context, "tools", (attempt) => steps.tools(run, before, attempt));
    if ("ended" in listed) return end(listed, progress);
    tools = listed.tools;
    progress = { ...progress, log: [...progress.log, ...listed.log] };
  }
  for (;;) {
    const before = progress;
    const result = await insist(context, `model ${before.step}`, (attempt) => steps.model(run, before, attempt, tools));
    if ("ended" in result) return end(result, before);
    const { reply } = result;
    const called = await callTools(context, run, steps, { progress: before, reply, tools });
    const spent = { ...before, costMicros: before.costMicros + result.costMicros };
    progress = afterTools(spent, reply, called.results, [...result.log, ...called.log]);
  }
}

async function runAndRemember(context: restate.Context, run: RunInput, steps: RunSteps): Promise<RunOutcome> {
  const outcome = await runAgent(context, run, steps);
  // What the run is remembered by is recorded with it; its embedding can come after the answer.
  if (outcome.status === "completed" && run.definition.memory?.remember) askToEmbed(context, run);
  return outcome;
}

/** Runs side by side without a session, and one turn at a time, in order of arrival, within one. */
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
