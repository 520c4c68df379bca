import { hash } from "node:crypto";
import { holds, keyPattern, type Operation, type Permission, type Role, type Tier } from "@perch/contract";
import type { Epoch } from "../cache/epoch.ts";
import { createEpochCache } from "../cache/epoch-cache.ts";
import type { Database } from "../db/database.ts";
import { ApiError } from "../platform/api-error.ts";
import { createLruCache } from "../platform/lru-cache.ts";
import type { Digest } from "../platform/sealing.ts";
import type { Caller } from "./caller.ts";
import { isWellFormedToken } from "./key-token.ts";
import { findKeyByDigest, isActive, keyStatus, type PresentedKey } from "./presented-key.ts";
import { findSessionByDigest } from "./presented-session.ts";
import { digestSession } from "./session-token.ts";

const maxKeys = 50_000;
const maxKeyBytes = 64 * 1024 * 1024;
const unknownKeyTtlMs = 2000;

const unauthorized = (message: string) => new ApiError("unauthorized", message);
const invalidKey = () => unauthorized("This API key is not valid. Check that it was copied whole.");
const endedSession = () => unauthorized("This session has ended. Sign in again at /console/sign-in.");

const callers = new WeakMap<PresentedKey, Caller>();

/** Created once for each key row that was read, not for each request. */
export function toCaller(key: PresentedKey): Caller {
  const known = callers.get(key);
  if (known) return known;
  const caller = createCaller(key);
  callers.set(key, caller);
  return caller;
}

const createCaller = (key: PresentedKey): Caller => ({
  keyId: key.session?.person ? null : key.id,
  originId: key.origin_id,
  credentialId: key.id,
  session: key.session,
  keyName: key.name,
  organisation: { id: key.organisation_id, name: key.organisation_name, tier: key.tier as Tier },
  onlyAgentId: key.agent_id,
  role: key.role as Role | null,
  permissions: new Set(key.permissions as Permission[]),
  expiresAt: key.expires_at,
  user: null,
});

/** A key or a session's token as it was sent, and its hash as the cache key: caches contain no tokens. */
export interface Credential {
  readonly token: string;
  readonly cacheKey: string;
  readonly isSession: boolean;
}

const bearerToken = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : /^Bearer +(\S+)$/i.exec(authorization)?.[1];

/** The key in `Authorization: Bearer <API_KEY>`, its checksum not verified; undefined if it cannot be a key. */
export function sentCredential(authorization: string | undefined): Credential | undefined {
  const token = bearerToken(authorization);
  if (token === undefined || !keyPattern.test(token)) return undefined;
  // Cheaper than the keyed digest, which only the database look-up needs.
  return { token, cacheKey: hash("sha256", token, "base64"), isSession: false };
}

/** The token of a session cookie, which `requireOwnPage` has admitted. */
export const sessionCredential = (token: string): Credential => ({
  token,
  cacheKey: hash("sha256", `session ${token}`, "base64"),
  isSession: true,
});

/** The same, or an error that names the problem. A mistyped key fails its checksum here, without a query. */
export function requireCredential(authorization: string | undefined): Credential {
  if (bearerToken(authorization) === undefined)
    throw unauthorized("Send an API key in the header `Authorization: Bearer <API_KEY>`.");
  const credential = sentCredential(authorization);
  if (!credential || !isWellFormedToken(credential.token)) throw invalidKey();
  return credential;
}

/** API keys, cached for as long as the epoch of their organisation is valid. */
export interface KeyDirectory {
  /** Without an epoch it reads the database, unless the key was just looked up and not found. */
  readonly find: (credential: Credential, epoch?: Epoch) => PresentedKey | Promise<PresentedKey>;
  /** The key as last read. Its organisation and its revocation never change; the rest may be stale. */
  readonly lastKnown: (credential: Credential) => PresentedKey | undefined;
}

/** A key is small, and its organisation is not known before it is read. */
const wholeCache = (_: string, bytes: number): number => bytes;

interface KeyDirectoryDeps {
  readonly db: Database;
  readonly keyDigest: Digest;
  readonly sessionDigest: Digest;
  /** Told of every key that is read: an organisation's shares depend on its tier. */
  readonly rememberTier: (organisationId: string, tier: Tier) => void;
  readonly now: () => number;
}

export function createKeyDirectory({
  db,
  keyDigest,
  sessionDigest,
  rememberTier,
  now,
}: KeyDirectoryDeps): KeyDirectory {
  const cache = createEpochCache<PresentedKey | undefined>({
    maxEntries: maxKeys,
    maxBytes: maxKeyBytes,
    partOf: wholeCache,
    now,
  });
  const known = createLruCache<string, PresentedKey>(maxKeys);
  const unknown = createLruCache<string, true>(maxKeys, { ttl: unknownKeyTtlMs });

  const read = async ({ cacheKey, token, isSession }: Credential): Promise<PresentedKey | undefined> => {
    const key = isSession
      ? await findSessionByDigest(db.unscoped, digestSession(sessionDigest, token))
      : await findKeyByDigest(db.unscoped, keyDigest(token));
    if (!key) {
      unknown.set(cacheKey, true);
      // Otherwise its requests would count against the organisation, and no longer against their address.
      known.delete(cacheKey);
      return undefined;
    }
    known.set(cacheKey, key);
    rememberTier(key.organisation_id, toCaller(key).organisation.tier);
    return key;
  };

  const load = async (credential: Credential, epoch: Epoch | undefined): Promise<PresentedKey> => {
    const refusal = credential.isSession ? endedSession : invalidKey;
    if (unknown.has(credential.cacheKey)) throw refusal();
    const key = await (epoch ? cache.load(credential.cacheKey, epoch, () => read(credential)) : read(credential));
    if (!key) throw refusal();
    return key;
  };

  return {
    find: (credential, epoch) => (epoch && cache.current(credential.cacheKey, epoch)?.value) ?? load(credential, epoch),
    lastKnown: ({ cacheKey }) => known.get(cacheKey),
  };
}

export function requireActiveKey(key: PresentedKey, now: Date): void {
  if (isActive(key, now)) return;
  throw key.session ? endedSession() : unauthorized(`This API key is ${keyStatus(key, now)}. Use another one.`);
}

export function authorize(
  { permissions, session }: Caller,
  { permission, ownRuns }: Pick<Operation, "permission" | "ownRuns">,
): void {
  if (permission === null || permission === "public" || holds(permissions, permission)) return;
  if (ownRuns && holds(permissions, "invoke")) return;
  throw new ApiError(
    "forbidden",
    `This needs the permission ${permission}; this ${session ? "session" : "key"} holds ${[...permissions].join(", ")}.`,
  );
}
