import { closeCore, composeCore } from "../../compose/core.ts";
import type { Config } from "../../config/config.ts";
import { masterKeyName } from "../../db/data-keys.ts";
import type { Logger } from "../../platform/logger.ts";

/** Rewraps the data keys under PERCH_MASTER_KEY. Data encrypted with them is untouched, so servers keep running. */
export async function runRotateMasterKey(config: Config, logger: Logger): Promise<void> {
  const core = composeCore(config, logger);
  try {
    await core.dataKeys.load();
    const count = await core.dataKeys.rewrap();
    const name = masterKeyName(config.masterKey);
    console.log(
      count === 0
        ? `Everything is under the master key ${name} already.`
        : `${count} data keys are under the master key ${name} now. When every server has it as PERCH_MASTER_KEY, take the old one away.`,
    );
  } finally {
    await closeCore(core);
  }
}
