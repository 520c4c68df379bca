import { type Kysely, sql } from "kysely";
import type { DB } from "../db/generated-rows.ts";

export interface Claim {
  readonly keyId: string;
  readonly fingerprint: Buffer;
  readonly invocationId: string;
}

interface ClaimRow {
  readonly key_id: string;
  readonly fingerprint: Buffer;
  readonly invocation_id: string;
}

/** The run this Idempotency-Key stands for: the one it started before, or the one proposed now. A look proposes nothing. */
export async function claimInvocation(
  db: Kysely<DB>,
  organisationId: string,
  request: Buffer,
  { keyId, fingerprint, invocationId }: Claim,
  how: "look" | "claim",
): Promise<Claim | undefined> {
  const { rows } = await sql<ClaimRow>`
    select * from claim_run(${organisationId}, ${request}, ${keyId}, ${fingerprint}, ${how === "claim" ? invocationId : null})`.execute(
    db,
  );
  const [row] = rows;
  return row && { keyId: row.key_id, fingerprint: row.fingerprint, invocationId: row.invocation_id };
}
