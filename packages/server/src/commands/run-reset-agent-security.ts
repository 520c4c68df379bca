import { parseArgs } from "node:util";
import { findAgentForUpdate, updateAgentDefinition } from "../agents/agent-queries.ts";
import { storedDefinition } from "../agents/to-agent.ts";
import { insertOutsideEntry } from "../audit/record-request.ts";
import { closeCore, composeCore } from "../compose/core.ts";
import type { Config } from "../config.ts";
import { createOrganisationChanges } from "../gate/organisation-changes.ts";
import { parsePublicId, toPublicId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import { UsageError } from "./usage.ts";

/** The way back in for whoever is locked out of an agent by its own settings. */
export async function runResetAgentSecurity(config: Config, logger: Logger, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { organisation: { type: "string" }, agent: { type: "string" } } });
  const organisationId = parsePublicId("organisation", values.organisation ?? "");
  const ref = values.agent ?? "";
  if (!organisationId) throw new UsageError("--organisation is an id such as org_01h455vb4pex5vsknk084sn02q.");
  const core = composeCore(config, logger);
  const changes = createOrganisationChanges({ ...core, logger });
  const scope = { organisationId, agentId: null };
  try {
    await changes.commit(organisationId, async (trx) => {
      const agent = await findAgentForUpdate(trx, scope, ref);
      if (!agent) throw new UsageError(`${values.organisation} has no agent ${JSON.stringify(ref)}.`);
      await updateAgentDefinition(trx, scope, agent.id, { ...storedDefinition(agent), security: {} }, null);
      await insertOutsideEntry(trx, organisationId, {
        actor: "operator",
        operation: "reset-agent-security",
        resourceType: "agent",
        resource: toPublicId("agent", agent.id),
        agent: { id: agent.id },
        details: { fields: ["security", "auth"] },
      });
    });
    console.log(`${ref} asks for nothing but a key now.`);
  } finally {
    await changes.stop();
    await closeCore(core);
  }
}
