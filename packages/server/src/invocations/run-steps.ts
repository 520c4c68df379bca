import type { Database } from "../db/database.ts";
import type { RunSlots } from "../gate/run-slots.ts";
import type { LogNotifications } from "../logs/log-news.ts";
import type { SearchMemory } from "../memory/search-memory.ts";
import type { CallRemoteAgent } from "../models/remote-agent.ts";
import type { Logger } from "../platform/logger.ts";
import type { FindModel } from "../providers/find-model.ts";
import type { RunStreams } from "../streams/run-streams.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import type { Tools } from "../tools/create-tools.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { findSession } from "./invocation-queries.ts";
import { createModelStep, type ModelStep } from "./model-step.ts";
import { createRecallStep, type RecallStep } from "./recall-step.ts";
import { initialProgress, type Progress, type RunInput } from "./run.ts";
import { createRunRecord, type RunRecord } from "./run-record.ts";
import { createRunSpans } from "./run-spans.ts";
import { createToolSteps, type ToolSteps } from "./tool-steps.ts";

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
  readonly telemetry: Pick<Telemetry, "runEnded">;
  readonly logger: Logger;
  readonly now: () => number;
}

/** The steps of a run. The workflow decides which comes next; the engine journals their results. */
export interface RunSteps extends ToolSteps, RecallStep, Pick<RunRecord, "record"> {
  /** The first step within a session: reads the history once the run's turn has come. */
  readonly begin: (run: RunInput) => Promise<Progress>;
  readonly model: ModelStep;
}

export function createRunSteps(deps: RunStepsDeps): RunSteps {
  const spans = createRunSpans(deps);
  const records = createRunRecord({ ...deps, spans });
  return {
    begin: async (run) =>
      initialProgress(deps.now(), await deps.db.inOrganisation(run.organisationId, (trx) => findSession(trx, run))),
    ...createRecallStep(deps),
    model: createModelStep({ ...deps, records, spans }),
    ...createToolSteps({ ...deps, records, spans }),
    record: records.record,
  };
}
