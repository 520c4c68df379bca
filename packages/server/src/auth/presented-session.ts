import { type Permission, type Role, roles, type SignedInPerson } from "@perch/contract";
import { type Kysely, sql } from "kysely";
import type { DB } from "../db/generated-rows.ts";
import type { PresentedKey } from "./presented-key.ts";

interface SessionRow {
  readonly session_id: string;
  readonly organisation_id: string;
  readonly organisation_name: string;
  readonly tier: string;
  readonly key_id: string | null;
  readonly agent_id: string | null;
  readonly key_name: string | null;
  readonly key_role: string | null;
  readonly key_permissions: string[] | null;
  readonly key_expires_at: Date | null;
  readonly key_revoked_at: Date | null;
  readonly subject: string | null;
  readonly person_name: string | null;
  readonly email: string | null;
  readonly person_role: string | null;
  readonly person_may_approve: boolean;
  readonly activated_at: Date | null;
  readonly expires_at: Date;
  readonly ended_at: Date | null;
  readonly key_origin_id: string | null;
  readonly issuer: string | null;
}

/** A session or a link, found by the credential of a request. It has the rights of its key or its person. */
export interface PresentedSession extends PresentedKey {
  readonly session: NonNullable<PresentedKey["session"]>;
}

/** A person's permissions: the role's, and `approve` if a group of the person has it. */
export const personPermissions = (role: Role, mayApprove: boolean): Permission[] =>
  mayApprove ? [...roles[role], "approve"] : [...roles[role]];

const ownerOf = (row: SessionRow) =>
  row.key_id === null
    ? {
        id: row.session_id,
        name: row.person_name ?? row.email ?? row.subject ?? "",
        role: row.person_role,
        permissions: personPermissions(row.person_role as Role, row.person_may_approve),
      }
    : { id: row.key_id, name: row.key_name ?? "", role: row.key_role, permissions: row.key_permissions ?? [] };

const personOf = ({ subject, person_name, email }: SessionRow): SignedInPerson | null =>
  subject === null ? null : { subject, name: person_name, email };

const toPresented = (row: SessionRow): PresentedSession => ({
  ...ownerOf(row),
  organisation_id: row.organisation_id,
  organisation_name: row.organisation_name,
  tier: row.tier,
  origin_id: row.key_origin_id ?? row.session_id,
  agent_id: row.agent_id,
  expires_at: row.key_expires_at,
  revoked_at: row.key_revoked_at,
  session: {
    id: row.session_id,
    person: personOf(row),
    issuer: row.issuer,
    signedInAt: row.activated_at,
    expiresAt: row.expires_at,
    endedAt: row.ended_at,
  },
});

/** As for keys: the digest determines the organisation. */
export async function findSessionByDigest(db: Kysely<DB>, digest: Buffer): Promise<PresentedSession | undefined> {
  const { rows } = await sql<SessionRow>`select * from find_session_with_issuer(${digest})`.execute(db);
  const [row] = rows;
  return row && toPresented(row);
}

export async function updateSessionsLastUsedAt(db: Kysely<DB>, used: ReadonlyMap<string, Date>): Promise<void> {
  await sql`select mark_sessions_used(${[...used.keys()]}::uuid[], ${[...used.values()]}::timestamptz[])`.execute(db);
}
