import type { Database } from "../../db/database.ts";
import { notFound } from "../../platform/api-error.ts";
import { single } from "../../platform/envelopes.ts";
import { toPublicId } from "../../platform/ids.ts";
import { Uncached, Unchanged } from "../../platform/unchanged.ts";
import type { RequestContext } from "../handlers.ts";
import { type ConnectionRef, findConnectionForUpdate, updateConnection } from "./connection-queries.ts";
import { deleteLink } from "./link-queries.ts";
import { updateRevokedAtProvider } from "./revocation-queries.ts";
import type { TellProvider } from "./tell-provider.ts";
import { type ConnectionRow, toConnection } from "./to-connection.ts";

export interface RevokeDeps {
  readonly db: Database;
  readonly tellProvider: TellProvider;
}

/** Somebody waits for the answer. Housekeeping asks again. */
const tellTimeoutMs = 3000;

/** No run uses it from the moment of the commit. Then the provider is told, while the grant is kept for that alone. */
export function createRevocation({ db, tellProvider }: RevokeDeps) {
  const tell = async (row: ConnectionRow): Promise<void> => {
    const result = await tellProvider(row, tellTimeoutMs);
    if (result === "failed") return;
    await db.inOrganisation(row.organisation_id, (trx) => updateRevokedAtProvider(trx, row, result));
  };

  return async ({ change }: RequestContext, ref: ConnectionRef) => {
    let revoked: ConnectionRow | undefined;
    const answer = await change(async (trx) => {
      const row = await findConnectionForUpdate(trx, ref);
      if (!row) throw notFound("connection", toPublicId("connection", ref.id));
      if (row.status === "revoked") return new Unchanged(single(toConnection(row)));
      await deleteLink(trx, { organisationId: ref.organisationId, connectionId: ref.id });
      revoked = await updateConnection(trx, row, "revoke", {
        status: "revoked",
        reason: null,
        confirmed_digest: null,
        revoked_at_provider: row.sealed_grant === null ? null : "pending",
      });
      return new Uncached(single(toConnection(revoked)));
    });
    if (revoked?.revoked_at_provider === "pending") await tell(revoked);
    return answer;
  };
}
