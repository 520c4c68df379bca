import type { KeyStatus, SignedInPerson } from "@perch/contract";
import { type Kysely, sql } from "kysely";
import type { DB } from "../db/generated-rows.ts";

/** An API key, found by the credential of a request: the key itself, or a session. */
export interface PresentedKey {
  /** The id of the key; for a person, who has none, of the session. */
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
  /** The first key of the rotation chain; the key itself if it was never rotated. */
  readonly origin_id: string;
  /** Null if the key itself was presented. */
  readonly session: {
    readonly id: string;
    /** Null for a session that a key made. */
    readonly person: SignedInPerson | null;
    /** Who signed the person in; null for a session that a key made. */
    readonly issuer: string | null;
    /** Null for a link that has not been used. */
    readonly signedInAt: Date | null;
    readonly expiresAt: Date;
    readonly endedAt: Date | null;
  } | null;
}

/** The only query without an organisation, because it determines the organisation. */
export async function findKeyByDigest(db: Kysely<DB>, digest: Buffer): Promise<PresentedKey | undefined> {
  const { rows } = await sql<Omit<PresentedKey, "session">>`select * from find_key_with_origin(${digest})`.execute(db);
  const [row] = rows;
  return row && { ...row, session: null };
}

export async function updateKeysLastUsedAt(db: Kysely<DB>, used: ReadonlyMap<string, Date>): Promise<void> {
  await sql`select mark_keys_used(${[...used.keys()]}::uuid[], ${[...used.values()]}::timestamptz[])`.execute(db);
}

interface KeyTimes {
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

/** Whether the credential is valid: the key, and the session if it was one. */
export function isActive(key: PresentedKey, now: Date): boolean {
  if (keyStatus(key, now) !== "active") return false;
  const { session } = key;
  return session === null || (session.signedInAt !== null && session.endedAt === null && session.expiresAt > now);
}

export function keyStatus({ expires_at, revoked_at }: KeyTimes, now: Date): KeyStatus {
  if (revoked_at) return "revoked";
  return expires_at && expires_at <= now ? "expired" : "active";
}
