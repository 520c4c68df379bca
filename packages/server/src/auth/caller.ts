import type { Permission, Role, SignedInPerson, Tier } from "@perch/contract";

/** The identity behind the presented key or session. */
export interface Caller {
  /** The key, also if one of its sessions was presented; null for a person. */
  readonly keyId: string | null;
  /**
   * The first key of the rotation chain, so that a rotated key counts as the same caller. For a person, the session.
   */
  readonly originId: string;
  /** The key, or for a person the session. A repeated request must have the same one as the first. */
  readonly credentialId: string;
  /** The name of the key or the person. */
  readonly keyName: string;
  readonly session: {
    readonly id: string;
    readonly signedInAt: Date | null;
    readonly expiresAt: Date;
    readonly person: SignedInPerson | null;
    /** Who signed the person in; null for a session that a key made. */
    readonly issuer: string | null;
  } | null;
  readonly organisation: { readonly id: string; readonly name: string; readonly tier: Tier };
  /** The one agent that this key is restricted to; null: all agents of the organisation. */
  readonly onlyAgentId: string | null;
  readonly role: Role | null;
  readonly permissions: ReadonlySet<Permission>;
  /** When the key expires. A session ends earlier, and its permissions do not depend on when. */
  readonly expiresAt: Date | null;
  /** The user authenticated by a token sent along with the key. */
  readonly user: { readonly id: string; readonly by: "jwt" | "oauth" } | null;
  /** Admitted without the user's token that the agent's `auth` demands, because this key set it within the hour. */
  readonly usesGracePeriod?: true;
}

/**
 * The caller as runs, votes and keys name it. One person is the same in all sessions, and a key stays the same when it is
 * rotated. A subject is unique at its issuer only.
 */
export function identityOf({ originId, session }: Pick<Caller, "originId" | "session">): string {
  if (session?.person) return `person:${session.issuer}#${session.person.subject}`;
  return `key:${originId}`;
}

/** As releases before wrote it. */
const withoutIssuer = (identity: string): string => identity.replace(/^person:https?:[^#]*#/, "person:");

/** Whether two identities are the same caller. One that was recorded without its issuer is compared by the subject. */
export function isSameIdentity(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [withoutIssuer(one), withoutIssuer(other)];
  return a === b && (a === one || b === other);
}

/** The part of the organisation that the caller may see. Every query takes it. */
export interface Scope {
  readonly organisationId: string;
  /** The one agent that the caller is restricted to; null: all agents. */
  readonly onlyAgentId: string | null;
  /** Agents whose settings refuse this caller: lists leave out their resources. */
  readonly hiddenAgentIds?: readonly string[];
  /** The only user whose data the caller may see, because a token names the user; undefined: of all users. */
  readonly onlyUserId?: string | undefined;
  /** The only starter of runs whose runs the caller may see: a key with `invoke` sees its own. As `identityOf`. */
  readonly onlyInvoker?: string | undefined;
  /** In lists over several agents: the same for those agents whose own tokens name the user. */
  readonly onlyUserIds?: Readonly<Record<string, string>>;
}
