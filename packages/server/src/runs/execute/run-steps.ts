import type { Database } from "../../db/database.ts";
import type { RunSlots } from "../../limits/run-slots.ts";
import type { CallRemoteAgent } from "../../outbound/models/remote-agent.ts";
import type { Tools } from "../../outbound/tools/tools.ts";
import type { Logger } from "../../platform/logger.ts";
import type { Digest, Sealer } from "../../platform/sealing.ts";
import type { LogNotifications } from "../../resources/logs/log-notifications.ts";
import type { SearchMemory } from "../../resources/memory/search-memory.ts";
import type { FindModel } from "../../resources/providers/find-model.ts";
import type { Quotas } from "../../resources/quotas/quotas.ts";
import type { ContinueRuns } from "../../resources/waiting-runs/continue-runs.ts";
import type { WaitingRunMetrics } from "../../resources/waiting-runs/waiting-run-metrics.ts";
import type { RunStreams } from "../../streams/run-streams.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import { createRunRecord, type RunRecord } from "../record/run-record.ts";
import { type BeginStep, createBeginStep } from "./begin-step.ts";
import { createEndIfOver } from "./end-if-over.ts";
import { createListToolsStep, type ListToolsStep } from "./list-tools-step.ts";
import { createModelStep, type ModelStep } from "./model-step.ts";
import { createRecallStep, type RecallStep } from "./recall-step.ts";
import { createResumeSteps, type ResumeSteps } from "./resume-step.ts";
import { createRunSpans } from "./run-spans.ts";
import { createPublishStep } from "./step-events.ts";
import { createSuspendStep, type SuspendStep } from "./suspend-step.ts";
import { createToolStep, type ToolStep } from "./tool-steps.ts";

interface RunStepsDeps {
  readonly db: Database;
  readonly slots: RunSlots;
  readonly streams: RunStreams;
  readonly logNotifications: LogNotifications;
  readonly findModel: FindModel;
  readonly prices: Readonly<Record<string, number>>;
  readonly callRemoteAgent: CallRemoteAgent;
  readonly searchMemory: SearchMemory;
  readonly tools: Tools;
  readonly tracing: Tracing;
  readonly runContents: Sealer;
  readonly approvalContents: Sealer;
  readonly approvalDigest: Digest;
  readonly continueRuns: Pick<ContinueRuns, "start">;
  readonly quotas: Pick<Quotas, "hasRoomToWait" | "message">;
  readonly telemetry: Pick<Telemetry, "runEnded"> & Pick<WaitingRunMetrics, "runContinued">;
  readonly logger: Logger;
  readonly now: () => number;
}

/** The steps of a run. The workflow decides which comes next; the engine journals their results. */
export interface RunSteps extends BeginStep, RecallStep, ResumeSteps, Pick<RunRecord, "record"> {
  readonly tools: ListToolsStep;
  readonly model: ModelStep;
  readonly tool: ToolStep;
  readonly suspend: SuspendStep;
}

export function createRunSteps(deps: RunStepsDeps): RunSteps {
  const spans = createRunSpans(deps);
  const records = createRunRecord({ ...deps, spans });
  const endIfOver = createEndIfOver({ ...deps, records });
  const publish = createPublishStep(deps.streams);
  const tools = createListToolsStep({ ...deps, records, spans, publish });
  const model = createModelStep({ ...deps, records, spans, publish });
  const { suspend, suspendTurn } = createSuspendStep({ ...deps, records });
  return {
    ...createBeginStep({ ...deps, records, suspendTurn, endIfOver }),
    ...createRecallStep({ ...deps, endIfOver, publish }),
    tools: (run, progress, attempt) => endIfOver(run, progress, attempt.log, () => tools(run, progress, attempt)),
    model: (run, progress, attempt, known) =>
      endIfOver(run, progress, attempt.log, () => model(run, progress, attempt, known)),
    tool: createToolStep({ ...deps, records, spans, publish }),
    suspend: (run, progress, waiting) => endIfOver(run, progress, [], () => suspend(run, progress, waiting)),
    ...createResumeSteps({ ...deps, records }),
    record: records.record,
  };
}
