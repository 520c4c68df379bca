import { parseArgs } from "node:util";
import type { Config } from "../../config/config.ts";
import { requireOwnerUrl } from "../../config/database-settings.ts";
import { openAsOwner } from "../../db/open-as-owner.ts";
import { activateRelease, findActiveTurn } from "../../db/releases.ts";
import { OperatorError } from "../../platform/operator-error.ts";
import { missingFrom, releaseFeatures } from "../../platform/release-features.ts";
import { commandTable } from "./command-table.ts";

/** Gives new runs to this release from now on, even if it had them before another release. */
export async function activateThisRelease(config: Config, force: boolean): Promise<void> {
  const { release } = config;
  const db = openAsOwner(requireOwnerUrl(config));
  try {
    const { turn, isNew } = await db.transaction().execute(async (trx) => {
      const active = await findActiveTurn(trx);
      const lost = active === undefined ? [] : missingFrom(releaseFeatures, active.features);
      if (active && lost.length > 0 && !force)
        throw new OperatorError(
          `Release ${release} does not understand ${lost.join(", ")}, which release ${active.release} does: runs of agents that use them would get 503 until a release that does is active again. To activate it all the same: perch-server activate-release --force`,
        );
      return activateRelease(trx, release);
    });
    console.log(
      isNew
        ? `Release ${release} is active, in turn ${turn}: new runs go to its workers as soon as one runs.`
        : `Release ${release} was active already, in turn ${turn}: nothing was changed.`,
    );
  } finally {
    await db.destroy();
  }
}

export function runActivateRelease(config: Config, _logger: unknown, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable["activate-release"].options });
  return activateThisRelease(config, values.force);
}
