import { roles, type Tier } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import { newUuid, toPublicId } from "../../platform/ids.ts";
import type { Digest } from "../../platform/sealing.ts";
import { insertEntryWithoutCaller } from "../audit/audit-entry.ts";
import { issueKey } from "../keys/issue-key.ts";
import { insertOrganisation } from "./organisation-queries.ts";

interface Deps {
  readonly db: Database;
  readonly keyDigest: Digest;
}

/** Creates an organisation and its first admin key. The key itself is only returned, never stored. */
export async function createOrganisation({ db, keyDigest }: Deps, { name, tier }: { name: string; tier: Tier }) {
  const organisationId = newUuid();
  const { token } = await db.inOrganisation(organisationId, async (trx) => {
    await insertOrganisation(trx, { id: organisationId, name, tier });
    await insertEntryWithoutCaller(trx, organisationId, {
      actor: "operator",
      operation: "create-organisation",
      resourceType: "organisation",
      resource: toPublicId("organisation", organisationId),
    });
    return issueKey(
      trx,
      keyDigest,
      { organisationId },
      {
        agentId: null,
        name: "first admin key",
        role: "admin",
        permissions: roles.admin,
        createdBy: null,
        creators: [],
        expiresAt: null,
      },
    );
  });
  return { id: toPublicId("organisation", organisationId), key: token };
}
