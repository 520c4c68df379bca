import type { Config } from "../../config/config.ts";
import { requireOwnerUrl } from "../../config/database-settings.ts";
import { openAsOwner } from "../../db/open-as-owner.ts";
import { activateRelease } from "../../db/releases.ts";

/** Gives new runs to this release from now on, even if it had them before another release. */
export async function runActivateRelease(config: Config): Promise<void> {
  const db = openAsOwner(requireOwnerUrl(config));
  try {
    const { turn, isNew } = await db.transaction().execute((trx) => activateRelease(trx, config.release));
    console.log(
      isNew
        ? `Release ${config.release} is active, in turn ${turn}: new runs go to its workers as soon as one runs.`
        : `Release ${config.release} was active already, in turn ${turn}: nothing was changed.`,
    );
  } finally {
    await db.destroy();
  }
}
