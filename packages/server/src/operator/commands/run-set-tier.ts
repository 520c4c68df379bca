import { parseArgs } from "node:util";
import { Tier, tiers } from "@perch/contract";
import { createOrganisationChanges } from "../../cache/organisation-changes.ts";
import { closeCore, composeCore } from "../../compose/core.ts";
import type { Config } from "../../config/config.ts";
import { parsePublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { OperatorError } from "../../platform/operator-error.ts";
import { insertEntryWithoutCaller } from "../../resources/audit/audit-entry.ts";
import { updateTier } from "../../resources/organisations/organisation-queries.ts";
import { commandTable } from "./command-table.ts";
import { UsageError } from "./usage.ts";

export async function runSetTier(config: Config, logger: Logger, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable["set-tier"].options });
  const organisationId = parsePublicId("organisation", values.organisation ?? "");
  const tier = Tier.safeParse(values.tier);
  if (!organisationId) throw new UsageError("--organisation is an id such as org_01h455vb4pex5vsknk084sn02q.");
  if (!tier.success) throw new UsageError(`--tier is one of ${tiers.join(", ")}.`);
  const core = composeCore(config, logger);
  const changes = createOrganisationChanges({ db: core.db, replaceEpoch: core.shared.gate.replaceEpoch, logger });
  try {
    const name = await changes.commit(organisationId, async (trx) => {
      const changed = await updateTier(trx, organisationId, tier.data);
      if (changed === undefined) throw new OperatorError(`There is no organisation ${values.organisation}.`);
      await insertEntryWithoutCaller(trx, organisationId, {
        actor: "operator",
        operation: "set-tier",
        resourceType: "organisation",
        resource: values.organisation ?? null,
      });
      return changed;
    });
    console.log(`${values.organisation} (${name}) is ${tier.data} now.`);
  } finally {
    await changes.repair();
    await closeCore(core);
  }
}
