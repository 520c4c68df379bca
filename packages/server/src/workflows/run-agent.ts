import * as restate from "@restatedev/restate-sdk";
import { currentJournal } from "../engine/journal.ts";
import type { ContinuedRun, LostRun, RunInput, RunMessage, RunOutcome, RunResult } from "../engine/messages.ts";
import { agentRuns, agentSessions } from "../engine/services.ts";
import type { ModelReply } from "../outbound/models/model.ts";
import type { RunTool, ToolResult } from "../outbound/tools/tool.ts";
import { missingFrom, releaseFeatures } from "../platform/release-features.ts";
import { publishRunStage } from "../platform/run-stages.ts";
import { logSettingOf } from "../resources/agents/log-setting.ts";
import { type Definitions, lostDefinition } from "../resources/deployments/definitions.ts";
import { type CallToDecide, callsToDecide } from "../runs/execute/calls-to-decide.ts";
import { afterTools, maxRetryAfterMs } from "../runs/execute/run-rules.ts";
import type { RunSteps } from "../runs/execute/run-steps.ts";
import type { Resumed } from "../runs/execute/run-suspension.ts";
import { applyVerdicts, noteEdits } from "../runs/execute/verdict-rules.ts";
import { type Ended, initialProgress, type LogLine, type Progress, type Recorded } from "../runs/run.ts";
import { sendDeliveriesOfRun } from "./deliver-webhook.ts";
import { type IsOutput, retryUntilSettled, runStep, stepName } from "./journaled-steps.ts";
import { sendEmbed } from "./memory-services.ts";
import { retryStepUntilSuccess, serviceOptions } from "./retry-policies.ts";

const options = {
  ...serviceOptions,
  // A step may be one model call of 15 minutes.
  inactivityTimeout: { minutes: 16 },
  abortTimeout: { minutes: 1 },
};

/** Without a session, the run has no history to read and no turn to wait for, so it began when it was accepted. */
export const initialProgressWithoutSession = (run: RunInput): Progress =>
  initialProgress(run.acceptedAtMs, { turn: 0, history: [] });

interface CallsAt {
  readonly progress: Progress;
  readonly reply: ModelReply;
  readonly tools: readonly RunTool[];
  /** Results that are known without a call, at their call's place. */
  readonly known?: readonly (ToolResult | null)[];
  /** Calls that wait for a person, by their number: these are not made. */
  readonly waiting?: readonly CallToDecide[];
}

/** Makes all calls of one reply concurrently. Transient failures are retried together in another round. */
async function callTools(
  context: restate.Context,
  run: RunInput,
  steps: RunSteps,
  { progress, reply, tools, known = [], waiting = [] }: CallsAt,
): Promise<{ readonly results: (ToolResult | null)[]; readonly log: readonly LogLine[] }> {
  const results = new Map<number, ToolResult | null>(waiting.map(({ callNumber }) => [callNumber - 1, null]));
  for (const [i, result] of known.entries()) if (result) results.set(i, result);
  const log: LogLine[] = [];
  const journal = currentJournal();
  for (let tries = 1; ; tries++) {
    const open = reply.toolCalls.map((call, i) => ({ call, i })).filter(({ i }) => !results.has(i));
    if (open.length === 0) return { results: reply.toolCalls.map((_, i) => results.get(i) ?? null), log };
    const answers = await restate.RestatePromise.all(
      open.map(({ call, i }) => {
        const name = stepName(`tool ${progress.step}.${i + 1} ${call.name}`, tries);
        const begin = () =>
          steps.tool(run, progress, { call, callNumber: i + 1, tries, tools, interrupted: journal.isRepeat(name) });
        return context.run(name, begin, retryStepUntilSuccess);
      }),
    );
    for (const [n, answer] of answers.entries()) {
      const i = open[n]?.i ?? 0;
      log.push(...answer.log);
      if (!("retryAfterMs" in answer)) results.set(i, answer);
    }
    if (results.size < reply.toolCalls.length) await context.sleep(maxRetryAfterMs(answers));
  }
}

/** The run's memory is recorded with it; embedding it can happen after the answer. */
const hasMemoryToEmbed = (run: RunInput, outcome: RunResult): boolean =>
  outcome.status === "completed" && run.definition.memory.remember;

/** A remote agent has tools of its own. */
export const hasTools = ({ runtime, tools }: RunInput["definition"]): boolean =>
  runtime.type === "model" && tools.length > 0;

/** Whether this step's result is recorded, with nothing left to send: only the output follows. */
export function isOutputOf(run: RunInput, result: object): result is Ended {
  if (!("ended" in result)) return false;
  const { ended, unrecorded, toDeliver } = result as Ended;
  const isSettled = run.cut === undefined || ended.status === "waiting";
  return isSettled && unrecorded === null && toDeliver.length === 0 && !hasMemoryToEmbed(run, ended);
}

/** The state of a run before its next model call. */
interface Standing {
  readonly progress: Progress;
  readonly tools: readonly RunTool[];
}

/** The run ended in a step before its first model call, or waits for its turn. */
interface Stopped {
  readonly stopped: Ended;
  readonly progress: Progress;
}

/**
 * The preparation before the first model call: the session's history, memories and tools, as far as the agent uses
 * them.
 */
async function prepare(
  context: restate.Context,
  run: RunInput,
  steps: RunSteps,
  isOutput: IsOutput,
): Promise<Standing | Stopped> {
  let progress = initialProgressWithoutSession(run);
  if (run.sessionId !== null) {
    const begun = await retryUntilSettled(context, "begin", (attempt) => steps.begin(run, attempt), isOutput);
    if ("ended" in begun) return { stopped: begun, progress };
    progress = begun;
  }
  if (run.definition.memory.recall) {
    const before = progress;
    const recall = () => steps.recall(run, before, currentJournal().isRepeat("recall"));
    const result = await context.run("recall", recall, retryStepUntilSuccess);
    if ("ended" in result) return { stopped: result, progress };
    progress = { ...progress, recalled: result.recalled, log: result.log };
  }
  if (!hasTools(run.definition)) return { progress, tools: [] };
  const before = progress;
  const listed = await retryUntilSettled(context, "tools", (attempt) => steps.tools(run, before, attempt), isOutput);
  if ("ended" in listed) return { stopped: listed, progress };
  const { tools, log } = listed;
  const toolNames = tools.map(({ definition }) => definition.name);
  return { progress: { ...progress, toolNames, log: [...progress.log, ...log] }, tools };
}

/** Makes the calls that persons approved: all calls of the reply have a result then. */
async function callDecided(
  context: restate.Context,
  run: RunInput,
  steps: RunSteps,
  resumed: Resumed,
): Promise<Standing> {
  const { progress, tools } = resumed.state;
  const { reply, results: known } = applyVerdicts(resumed);
  const called = await callTools(context, run, steps, { progress, reply, tools, known });
  return { progress: afterTools(progress, reply, noteEdits(called.results, resumed.verdicts), called.log), tools };
}

/** Few, large steps: each is repeated as a whole if the process dies within it. `resumed`: the run waited, for persons or for its turn. */
async function runAgent(
  context: restate.Context,
  run: RunInput,
  steps: RunSteps,
  resumed: Resumed | undefined,
): Promise<RunResult> {
  const end = async (last: Ended, { session }: Progress): Promise<RunResult> => {
    const { unrecorded, contents, ended: outcome } = last;
    const { ended, toDeliver }: Recorded =
      unrecorded === null || outcome.status === "waiting"
        ? last
        : await context.run(
            "record",
            () => steps.record(run, outcome, session, unrecorded, contents),
            retryStepUntilSuccess,
          );
    sendDeliveriesOfRun(context, run.organisationId, toDeliver);
    return ended;
  };

  const isOutput = (result: object): boolean => isOutputOf(run, result);

  if (resumed?.isCancelled) {
    const { progress: before, reply, results } = resumed.state;
    // The reply was made and paid for, though its calls are not made.
    const at = reply ? afterTools(before, reply, results, []) : before;
    return end(await runStep(context, "cancel", () => steps.cancel(run, at), isOutput), at);
  }
  const standing = resumed?.state.reply
    ? await callDecided(context, run, steps, resumed)
    : await prepare(context, run, steps, isOutput);
  if ("stopped" in standing) return end(standing.stopped, standing.progress);
  const { tools } = standing;
  let { progress } = standing;
  for (;;) {
    const before = progress;
    const result = await retryUntilSettled(
      context,
      `model ${before.step}`,
      (attempt) => steps.model(run, before, attempt, tools),
      isOutput,
    );
    if ("ended" in result) return end(result, before);
    const { reply } = result;
    const waiting = callsToDecide(reply, tools);
    const called = await callTools(context, run, steps, { progress: before, reply, tools, waiting });
    const spent = { ...before, costMicros: before.costMicros + result.costMicros };
    const log = [...result.log, ...called.log];
    if (waiting.length > 0) {
      const at = { ...spent, log: [...spent.log, ...log] };
      const suspend = () => steps.suspend(run, at, { reply, tools, results: called.results });
      // Journals of earlier releases have this name.
      return end(await runStep(context, `cut ${(run.cut ?? 0) + 1}`, suspend, isOutput), at);
    }
    progress = afterTools(spent, reply, called.results, log);
  }
}

async function runAndRemember(
  context: restate.Context,
  run: RunInput,
  steps: RunSteps,
  resumed?: Resumed,
): Promise<RunResult> {
  const outcome = await runAgent(context, run, steps, resumed);
  if (hasMemoryToEmbed(run, outcome)) sendEmbed(context, run);
  if (run.cut !== undefined && outcome.status !== "waiting")
    await context.run("settle", () => steps.settle(run), retryStepUntilSuccess);
  publishRunStage(run.id, "output_returned");
  return outcome;
}

/** Goes on with a run that waited. */
async function continueRun(context: restate.Context, run: ContinuedRun, steps: RunSteps): Promise<RunResult> {
  const resumed = await context.run("resume", () => steps.resume(run), retryStepUntilSuccess);
  return "state" in resumed ? runAndRemember(context, resumed.state.run, steps, resumed) : resumed.ended;
}

/** A new run is accepted with the definition of today. */
const withoutDefinition = {
  status: "failed",
  error: "The definition that this run was accepted with is no longer in the database.",
} as const satisfies LostRun;

const toOutcome = (lost: LostRun): RunOutcome => {
  const spent = { steps: 0, tokensUsed: 0, durationMs: 0 };
  if (lost.status === "cancelled") return { ...lost, error: "The run was cancelled.", ...spent };
  return { ...lost, code: "server_error", retryable: true, ...spent };
};

/** Ends the run at once. Not journaled: only the first record counts, however often this is repeated. */
async function recordLost(message: RunMessage, lost: LostRun, steps: RunSteps): Promise<RunResult> {
  const { output } = currentJournal();
  if (output !== undefined) return output as RunResult;
  const run = { ...message, definition: lostDefinition };
  const { ended } = await steps.record(run, toOutcome(lost), { turn: 0, history: [] }, []);
  return ended;
}

export interface RunServicesDeps {
  readonly steps: RunSteps;
  readonly findDefinition: Definitions["find"];
  /** Ends an invocation of the engine at once. */
  readonly kill: (invocationId: string) => Promise<void>;
  /** The meaning of `shapes`, the default of `logs`, in this installation. */
  readonly defaultLogs: RunInput["definition"]["logs"];
}

/** Runs without a session are concurrent; within a session, one turn runs at a time, in order of arrival. */
export const runServices = ({ steps, findDefinition, kill, defaultLogs }: RunServicesDeps) => {
  /** Without its definition a run cannot repeat the steps that its journal has, and the engine accepts no other end. */
  const endWithoutDefinition = async (context: restate.Context, message: RunMessage): Promise<RunResult> => {
    const outcome = await recordLost(message, withoutDefinition, steps);
    if (!currentJournal().hasSteps()) return outcome;
    await kill(context.request().id);
    throw new Error("The run was ended in the engine, because its definition is no longer in the database");
  };

  const run = async (context: restate.Context, message: RunMessage | ContinuedRun): Promise<RunResult> => {
    publishRunStage(message.id, "worker_called");
    const unknown = missingFrom(releaseFeatures, message.needs ?? []);
    // Nothing is journaled yet, so the engine tries it again, on the release that is active then.
    if (unknown.length > 0)
      throw new Error(`This release does not understand ${unknown.join(", ")}, which the run needs`);
    if ("continues" in message) return continueRun(context, message, steps);
    if (message.lost) return recordLost(message, message.lost, steps);
    // Outside the journal: a name always stands for the same definition, so a replay sees the same.
    const definition = message.definition ?? (await findDefinition(message));
    if (!definition) return endWithoutDefinition(context, message);
    const logs = logSettingOf(definition, defaultLogs);
    return runAndRemember(context, { ...message, definition: { ...definition, logs } }, steps);
  };
  return [
    restate.service({ name: agentRuns, handlers: { run }, options }),
    restate.object({
      name: agentSessions,
      handlers: { run: (context: restate.ObjectContext, message: RunMessage | ContinuedRun) => run(context, message) },
      options,
    }),
  ] as const;
};
