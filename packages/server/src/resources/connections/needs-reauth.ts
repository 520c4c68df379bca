import type { Database } from "../../db/database.ts";
import { insertEvent } from "../events/event-queries.ts";
import { toConnection } from "./to-connection.ts";
import { type GrantKey, updateNeedsReauth } from "./token-queries.ts";

export interface NeedsReauthDeps {
  readonly db: Pick<Database, "inOrganisation">;
  readonly dispatchDeliveries: () => void;
}

/**
 * Invalidates a consent: changes the state, and publishes the event for the application, in one transaction. False if
 * the row was changed since.
 */
export async function markNeedsReauth(
  { db, dispatchDeliveries }: NeedsReauthDeps,
  key: GrantKey,
  refusal: { readonly reason: string; readonly claimedUntil?: Date },
): Promise<boolean> {
  const isMarked = await db.inOrganisation(key.organisationId, async (trx) => {
    const row = await updateNeedsReauth(trx, key, refusal);
    if (!row) return false;
    const { organisationId } = key;
    const data = toConnection(row);
    await insertEvent(trx, { organisationId, agentId: row.agent_id, type: "connection.needs_reauth", data });
    return true;
  });
  if (isMarked) dispatchDeliveries();
  return isMarked;
}
