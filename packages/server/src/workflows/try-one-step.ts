import type { ContinuedRun, RunMessage } from "../engine/messages.ts";
import type { OneStepResult, RunOneStep } from "../engine/one-step-run.ts";
import { missingFrom, releaseFeatures } from "../platform/release-features.ts";
import { publishRunStage } from "../platform/run-stages.ts";
import { logSettingOf } from "../resources/agents/log-setting.ts";
import { firstAttempt } from "../runs/run.ts";
import { hasTools, initialProgressWithoutSession, isOutputOf, type RunServicesDeps } from "./run-agent.ts";

/** Whether the first model call is the first step of a run that begins, and no feature is missing. */
const beginsWithModel = (message: RunMessage | ContinuedRun): message is RunMessage =>
  !("continues" in message) &&
  message.lost === undefined &&
  message.sessionId === null &&
  missingFrom(releaseFeatures, message.needs ?? []).length === 0;

/** The first model call of a run, which nothing precedes and which most often is all of it, outside of the engine's SDK. */
export const createRunOneStep = ({
  steps,
  findDefinition,
  defaultLogs,
}: Pick<RunServicesDeps, "steps" | "findDefinition" | "defaultLogs">): RunOneStep => {
  const runOneStep = async (message: RunMessage | ContinuedRun): Promise<OneStepResult | undefined> => {
    publishRunStage(message.id, "worker_called");
    if (!beginsWithModel(message)) return undefined;
    const definition = message.definition ?? (await findDefinition(message));
    if (!definition || definition.memory.recall || hasTools(definition)) return undefined;
    const run = { ...message, definition: { ...definition, logs: logSettingOf(definition, defaultLogs) } };
    const progress = initialProgressWithoutSession(run);
    const [result] = await Promise.allSettled([steps.model(run, progress, firstAttempt, [])]);
    if (result.status === "fulfilled" && isOutputOf(run, result.value)) {
      publishRunStage(run.id, "output_returned");
      return { output: result.value.ended };
    }
    return { made: { name: `model ${progress.step}`, result } };
  };
  return (message) => runOneStep(message as RunMessage | ContinuedRun);
};
