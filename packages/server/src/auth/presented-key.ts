import type { KeyStatus } from "@perch/contract";
import { type Kysely, sql } from "kysely";
import type { DB } from "../db/generated-rows.ts";

/** An API key, as found by what a request presents. */
export interface PresentedKey {
  readonly id: string;
  readonly organisation_id: string;
  readonly organisation_name: string;
  readonly tier: string;
  readonly agent_id: string | null;
  readonly name: string;
  readonly role: string | null;
  readonly permissions: string[];
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

/** The one query without an organisation, because it is what determines the organisation. */
export async function findKeyByDigest(db: Kysely<DB>, digest: Buffer): Promise<PresentedKey | undefined> {
  const { rows } = await sql<PresentedKey>`select * from find_key_by_digest(${digest})`.execute(db);
  return rows[0];
}

export async function updateKeysLastUsedAt(db: Kysely<DB>, used: ReadonlyMap<string, Date>): Promise<void> {
  await sql`select mark_keys_used(${[...used.keys()]}::uuid[], ${[...used.values()]}::timestamptz[])`.execute(db);
}

interface KeyTimes {
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

export function keyStatus({ expires_at, revoked_at }: KeyTimes, now: Date): KeyStatus {
  if (revoked_at) return "revoked";
  return expires_at && expires_at <= now ? "expired" : "active";
}
