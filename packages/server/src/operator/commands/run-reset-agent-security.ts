import { parseArgs } from "node:util";
import { createOrganisationChanges } from "../../cache/organisation-changes.ts";
import { closeCore, composeCore } from "../../compose/core.ts";
import type { Config } from "../../config/config.ts";
import { parsePublicId, toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { findAgentForUpdate, updateAgentDefinition } from "../../resources/agents/agent-queries.ts";
import { storedDefinition } from "../../resources/agents/to-agent.ts";
import { insertEntryWithoutCaller } from "../../resources/audit/audit-entry.ts";
import { commandTable } from "./command-table.ts";
import { UsageError } from "./usage.ts";

/** For an operator whose organisation has locked itself out of an agent with its security settings. */
export async function runResetAgentSecurity(config: Config, logger: Logger, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable["reset-agent-security"].options });
  const organisationId = parsePublicId("organisation", values.organisation ?? "");
  const ref = values.agent ?? "";
  if (!organisationId) throw new UsageError("--organisation is an id such as org_01h455vb4pex5vsknk084sn02q.");
  const core = composeCore(config, logger);
  const changes = createOrganisationChanges({ db: core.db, replaceEpoch: core.shared.gate.replaceEpoch, logger });
  const scope = { organisationId, onlyAgentId: null };
  try {
    await changes.commit(organisationId, async (trx) => {
      const agent = await findAgentForUpdate(trx, scope, ref);
      if (!agent) throw new UsageError(`${values.organisation} has no agent ${JSON.stringify(ref)}.`);
      const { definition, security } = storedDefinition(agent);
      // They lock nobody out, and calls must not become free of approval by a repair.
      const kept = security.approvals ? { approvals: security.approvals } : {};
      await updateAgentDefinition(trx, scope, agent.id, { definition, security: kept }, null);
      await insertEntryWithoutCaller(trx, organisationId, {
        actor: "operator",
        operation: "reset-agent-security",
        resourceType: "agent",
        resource: toPublicId("agent", agent.id),
        agent: { id: agent.id },
        details: { fields: ["security", "auth"] },
      });
    });
    console.log(`${ref} now requires only a key.`);
  } finally {
    await changes.repair();
    await closeCore(core);
  }
}
