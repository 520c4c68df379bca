import { organisationKey } from "../../../server/src/limits/run-slots.ts";
import { connectValkey } from "../../../server/src/limits/valkey-gate.ts";
import { createLogger } from "../../../server/src/platform/logger.ts";
import { waitUntil } from "../services/commands.ts";
import { withClient } from "./scratch-database.ts";

/** The number of runs of all organisations that hold a slot in Valkey. */
export async function countHeldSlots(valkeyUrl: string, adminUrl: string): Promise<number> {
  const valkey = connectValkey(valkeyUrl, 5000, createLogger("silent"));
  try {
    if (!(await waitUntil(() => valkey.status === "ready", 10))) throw new Error("Valkey does not answer after 10 s");
    const now = Math.floor(Date.now() / 1000);
    const { rows } = await withClient(adminUrl, (client) =>
      client.query<{ id: string }>("select id from organisations"),
    );
    const held = await Promise.all(rows.map(({ id }) => valkey.zcount(organisationKey(id), now, "+inf")));
    return held.reduce((sum, count) => sum + count, 0);
  } finally {
    valkey.disconnect();
  }
}
