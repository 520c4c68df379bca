import { draftLabel, type VersionOperationKey } from "@perch/contract";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { Share } from "../../fairness/shares.ts";
import type { WorkMeter } from "../../fairness/work-thread.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { notFound } from "../../platform/api-error.ts";
import type { AgentDirectory } from "../agents/agent-directory.ts";
import type { AgentRow } from "../agents/agent-queries.ts";
import { storedDefinition } from "../agents/to-agent.ts";
import { page, single } from "../envelopes.ts";
import type { Handlers, RequestContext } from "../handlers.ts";
import { createCompareVersions } from "./compare-versions.ts";
import { toVersion, toVersionSummary } from "./to-deployment.ts";
import type { StoredVersion } from "./version-diff.ts";
import * as queries from "./version-queries.ts";

interface VersionDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
  readonly processorTime: Pick<Share, "acquire">;
  readonly telemetry: { readonly worked: WorkMeter };
}

export const versionHandlers = ({ db, agents, processorTime, telemetry }: VersionDeps) => {
  const compare = createCompareVersions({ processorTime, onWorked: telemetry.worked });

  const withAgent = async <T>(
    context: RequestContext,
    ref: string,
    work: (trx: OrganisationTransaction, agent: AgentRow, key: AgentKey) => Promise<T>,
  ) => {
    const agent = await agents.get(context, ref);
    const key = { organisationId: agent.organisation_id, agentId: agent.id };
    return db.inOrganisation(key.organisationId, (trx) => work(trx, agent, key));
  };

  const getStoredVersion = async (
    trx: OrganisationTransaction,
    agent: AgentRow,
    key: AgentKey,
    label: string,
  ): Promise<StoredVersion> => {
    if (label === draftLabel) return { label, json: JSON.stringify(storedDefinition(agent).definition) };
    const json = await queries.findDefinitionText(trx, key, label);
    if (json === undefined) throw notFound("version", label);
    return { label, json };
  };

  return {
    "GET /v1/agents/{agent_id}/versions": ({ params, query }, context) =>
      withAgent(context, params.agent_id, async (trx, _, key) => {
        const rows = await queries.listVersions(trx, key, query);
        return page(rows.map(toVersionSummary), query, await queries.countVersions(trx, key));
      }),

    "GET /v1/agents/{agent_id}/versions/{version}": ({ params }, context) =>
      withAgent(context, params.agent_id, async (trx, _, key) => {
        const row = await queries.findVersion(trx, key, params.version);
        if (!row) throw notFound("version", params.version);
        return single(toVersion(row));
      }),

    "GET /v1/agents/{agent_id}/versions/{version}/diff": async ({ params, query }, context) => {
      const [from, to] = await withAgent(context, params.agent_id, async (trx, agent, key) => {
        const before = await getStoredVersion(trx, agent, key, params.version);
        return [before, await getStoredVersion(trx, agent, key, query.to)] as const;
      });
      return single(await compare(context.scope.organisationId, from, to));
    },
  } satisfies Handlers<VersionOperationKey>;
};
