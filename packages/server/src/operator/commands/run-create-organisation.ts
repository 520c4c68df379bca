import { parseArgs } from "node:util";
import { Tier, tiers } from "@perch/contract";
import { closeCore, composeCore, depsOf } from "../../compose/core.ts";
import type { Config } from "../../config/config.ts";
import type { Logger } from "../../platform/logger.ts";
import { createOrganisation } from "../../resources/organisations/create-organisation.ts";
import { commandTable } from "./command-table.ts";
import { UsageError } from "./usage.ts";

/** Only the key goes to standard output, so that a script can capture it; the rest goes to standard error. */
export async function runCreateOrganisation(config: Config, logger: Logger, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable["create-organisation"].options });
  const tier = Tier.safeParse(values.tier);
  if (!values.name || values.name.length > 100)
    throw new UsageError("--name is missing or longer than 100 characters.");
  if (!tier.success) throw new UsageError(`--tier is one of ${tiers.join(", ")}.`);
  const core = composeCore(config, logger);
  try {
    await core.dataKeys.load();
    const { id, key } = await createOrganisation(depsOf(core), { name: values.name, tier: tier.data });
    console.error(`Created ${id} (${values.name}, ${tier.data}). Its admin key, shown only now:`);
    console.log(key);
  } finally {
    await closeCore(core);
  }
}
