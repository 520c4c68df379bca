import { newToken, tokenPrefix } from "../../auth/key-token.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import { newUuid } from "../../platform/ids.ts";
import type { Digest } from "../../platform/sealing.ts";
import { insertKey, type KeyRow, type NewKey } from "./key-queries.ts";

export type KeyGrant = Omit<NewKey, "id" | "digest" | "prefix">;

/** Creates a key. Only the caller gets the token: the database stores its digest. */
export async function issueKey(
  trx: OrganisationTransaction,
  keyDigest: Digest,
  scope: { readonly organisationId: string },
  grant: KeyGrant,
): Promise<{ readonly row: KeyRow; readonly token: string }> {
  const token = newToken();
  const row = await insertKey(trx, scope, {
    ...grant,
    id: newUuid(),
    digest: keyDigest(token),
    prefix: tokenPrefix(token),
  });
  return { row, token };
}
