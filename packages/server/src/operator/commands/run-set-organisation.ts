import { parseArgs } from "node:util";
import { createOrganisationChanges } from "../../cache/organisation-changes.ts";
import { closeCore, composeCore } from "../../compose/core.ts";
import type { Config } from "../../config/config.ts";
import { parsePublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { OperatorError } from "../../platform/operator-error.ts";
import { insertEntryWithoutCaller } from "../../resources/audit/audit-entry.ts";
import { updateManageGrantsApprove } from "../../resources/organisations/organisation-queries.ts";
import { commandTable } from "./command-table.ts";
import { UsageError } from "./usage.ts";

/** The only way back for an organisation that has forbidden through the API that `manage` gives `approve`. */
export async function runSetOrganisation(config: Config, logger: Logger, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable["set-organisation"].options });
  const organisationId = parsePublicId("organisation", values.organisation ?? "");
  const state = values["manage-grants-approve"];
  if (!organisationId) throw new UsageError("--organisation is an id such as org_01h455vb4pex5vsknk084sn02q.");
  if (state !== "on" && state !== "off") throw new UsageError("--manage-grants-approve is on or off.");
  const core = composeCore(config, logger);
  const changes = createOrganisationChanges({ db: core.db, replaceEpoch: core.shared.gate.replaceEpoch, logger });
  try {
    const { name } = await changes.commit(organisationId, async (trx) => {
      const changed = await updateManageGrantsApprove(trx, organisationId, state === "on");
      if (!changed) throw new OperatorError(`There is no organisation ${values.organisation}.`);
      await insertEntryWithoutCaller(trx, organisationId, {
        actor: "operator",
        operation: "set-organisation",
        resourceType: "organisation",
        resource: values.organisation ?? null,
        details: { fields: ["manage_grants_approve"], reason: `--manage-grants-approve ${state}` },
      });
      return changed;
    });
    const may = state === "on" ? "may" : "may not";
    console.log(`In ${values.organisation} (${name}), manage ${may} give approve now.`);
  } finally {
    await changes.repair();
    await closeCore(core);
  }
}
