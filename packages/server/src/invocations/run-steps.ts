import type { Database } from "../db/database.ts";
import type { RunSlots } from "../gate/run-slots.ts";
import type { CallRemoteAgent } from "../models/remote-agent.ts";
import type { Logger } from "../platform/logger.ts";
import type { FindModel } from "../providers/find-model.ts";
import type { RunStreams } from "../streams/run-streams.ts";
import type { Tools } from "../tools/create-tools.ts";
import { findSession } from "./invocation-queries.ts";
import { createModelStep, type ModelStep } from "./model-step.ts";
import { beginning, type Progress, type RunInput } from "./run.ts";
import { createRunRecord, type RunRecord } from "./run-record.ts";
import { createToolSteps, type ToolSteps } from "./tool-steps.ts";

interface RunStepsDeps {
  readonly db: Database;
  readonly slots: RunSlots;
  readonly streams: RunStreams;
  readonly findModel: FindModel;
  readonly callRemoteAgent: CallRemoteAgent;
  readonly tools: Tools;
  readonly logger: Logger;
  readonly now: () => number;
}

/** What the steps of a run do. The workflow decides which comes next; the engine keeps what they return. */
export interface RunSteps extends ToolSteps, Pick<RunRecord, "record"> {
  /** The first step within a session: its turn has come, and what was said before is known. */
  readonly begin: (run: RunInput) => Promise<Progress>;
  readonly model: ModelStep;
}

export function createRunSteps(deps: RunStepsDeps): RunSteps {
  const records = createRunRecord(deps);
  return {
    begin: async (run) =>
      beginning(deps.now(), await deps.db.inOrganisation(run.organisationId, (trx) => findSession(trx, run))),
    model: createModelStep({ ...deps, records }),
    ...createToolSteps({ ...deps, records }),
    record: records.record,
  };
}
