import type { StepOperationKey } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import { notFound } from "../../platform/api-error.ts";
import { parsePublicId } from "../../platform/ids.ts";
import type { Sealer } from "../../platform/sealing.ts";
import type { AgentDirectory } from "../../resources/agents/agent-directory.ts";
import { page } from "../../resources/envelopes.ts";
import type { Handlers } from "../../resources/handlers.ts";
import { visibleSince } from "../../resources/logs/log-rules.ts";
import { openContents } from "../record/seal-contents.ts";
import { findSealedContents, hasRun, listStepRows } from "../record/step-queries.ts";
import { boundContents, toSteps } from "../record/to-step.ts";

interface StepDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly runContents: Sealer;
  readonly nowMs: () => number;
}

export const stepHandlers = ({ db, agents, runContents, nowMs: now }: StepDeps) =>
  ({
    "GET /v1/agents/{agent_id}/invocations/{request_id}/steps": async ({ params, query }, context) => {
      const { id: agentId } = await agents.get(context, params.agent_id);
      const id = parsePublicId("request", params.request_id);
      if (!id) throw notFound("invocation", params.request_id);
      const run = { organisationId: context.scope.organisationId, agentId, id };
      const since = visibleSince(context.caller.organisation.tier, now());
      return db.inOrganisation(run.organisationId, async (trx) => {
        if (!(await hasRun(trx, { ...context.scope, ...run }))) throw notFound("invocation", params.request_id);
        const rows = await listStepRows(trx, run, since);
        const sealed = await findSealedContents(trx, run, since);
        const steps = toSteps(rows, sealed && openContents(runContents, sealed, run));
        const shown = boundContents(steps.slice(query.offset, query.offset + query.limit));
        return page(shown, query, steps.length);
      });
    },
  }) satisfies Handlers<StepOperationKey>;
