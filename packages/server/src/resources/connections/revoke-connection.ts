import type { RevocationResult } from "@perch/contract";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import { notFound } from "../../platform/api-error.ts";
import { Uncached, Unchanged } from "../../platform/change-results.ts";
import { toPublicId } from "../../platform/ids.ts";
import { single } from "../envelopes.ts";
import type { RequestContext } from "../handlers.ts";
import { type ConnectionRef, findConnection, findConnectionForUpdate, updateConnection } from "./connection-queries.ts";
import { deleteLink } from "./link-queries.ts";
import type { RevokeAtProvider } from "./revoke-at-provider.ts";
import { type ConnectionRow, toConnection } from "./to-connection.ts";

export interface RevokeDeps {
  readonly db: Database;
  readonly revokeAtProvider: RevokeAtProvider;
}

/** The request waits for it. Housekeeping asks again. */
const revokeTimeoutMs = 3000;

/**
 * Asks the provider first, so that the answer reports the result. From the commit on, no run uses the account. Until
 * the provider's answer is known, the tokens are stored only to be revoked.
 */
export function createRevocation({ db, revokeAtProvider }: RevokeDeps) {
  const findFor = async (trx: OrganisationTransaction, ref: ConnectionRef, find: typeof findConnection) => {
    const row = await find(trx, ref);
    if (!row) throw notFound("connection", toPublicId("connection", ref.id));
    return row;
  };

  /** Asks the provider to revoke the tokens of this generation. */
  const askProvider = async (row: ConnectionRow): Promise<RevocationResult | null> => {
    if (row.status === "revoked" || row.sealed_grant === null) return null;
    const result = await revokeAtProvider(row, revokeTimeoutMs);
    return result === "failed" ? "pending" : result;
  };

  return async ({ change }: RequestContext, ref: ConnectionRef) => {
    const asked = await db.inOrganisation(ref.organisationId, (trx) => findFor(trx, ref, findConnection));
    const answer = await askProvider(asked);
    return change(async (trx) => {
      const row = await findFor(trx, ref, findConnectionForUpdate);
      if (row.status === "revoked") return new Unchanged(single(toConnection(row)));
      await deleteLink(trx, { organisationId: ref.organisationId, connectionId: ref.id });
      // Tokens that were replaced in the meantime are not those that the provider was asked about.
      const result = row.generation === asked.generation ? answer : "pending";
      const isKept = result === "pending" && row.sealed_grant !== null;
      const revoked = await updateConnection(trx, row, "revoke", {
        status: "revoked",
        reason: null,
        confirmed_digest: null,
        revoked_at_provider: row.sealed_grant === null ? null : result,
        ...(!isKept && { sealed_grant: null }),
      });
      return new Uncached(single(toConnection(revoked)));
    });
  };
}
