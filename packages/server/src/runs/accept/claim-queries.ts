import { type Kysely, sql } from "kysely";
import type { DB } from "../../db/generated-rows.ts";

export interface Claim {
  readonly credentialId: string;
  readonly fingerprint: Buffer;
  readonly invocationId: string;
}

interface ClaimRow {
  readonly key_id: string;
  readonly fingerprint: Buffer;
  readonly invocation_id: string;
}

/** As long as the specification keeps the response of an Idempotency-Key. */
const keptHours = 24;

/** The claim of this Idempotency-Key: an earlier one, or else, in mode `claim`, the one proposed now. */
export async function claimInvocation(
  db: Kysely<DB>,
  organisationId: string,
  request: Buffer,
  { credentialId, fingerprint, invocationId }: Claim,
  mode: "find" | "claim",
): Promise<Claim | undefined> {
  const { rows } = await sql<ClaimRow>`
    select * from claim_run(${organisationId}, ${request}, ${credentialId}, ${fingerprint}, ${mode === "claim" ? invocationId : null},
      make_interval(hours => ${keptHours}))`.execute(db);
  const [row] = rows;
  return row && { credentialId: row.key_id, fingerprint: row.fingerprint, invocationId: row.invocation_id };
}
