import { hash } from "node:crypto";
import type { Permission, Role, Tier } from "@perch/contract";
import { LRUCache } from "lru-cache";
import type { Database } from "../db/database.ts";
import { createEpochCache } from "../gate/epoch-cache.ts";
import type { Epoch } from "../gate/gate.ts";
import type { Caller } from "../handlers.ts";
import { findKeyByDigest, type PresentedKey } from "../keys/key-queries.ts";
import { keyStatus } from "../keys/key-rules.ts";
import { isWellFormedToken } from "../keys/key-token.ts";
import { ApiError } from "../platform/api-error.ts";
import type { Digest } from "../platform/secrets.ts";

const mostKeys = 50_000;
const unknownForMs = 2000;

const unauthorized = (message: string) => new ApiError("unauthorized", message);
const notValid = () => unauthorized("This API key is not valid. Check that it was copied whole.");

const callers = new WeakMap<PresentedKey, Caller>();

/** Made once for each reading of a key, not once for each request. */
export function toCaller(key: PresentedKey): Caller {
  const known = callers.get(key);
  if (known) return known;
  const caller = newCaller(key);
  callers.set(key, caller);
  return caller;
}

const newCaller = (key: PresentedKey): Caller => ({
  keyId: key.id,
  keyName: key.name,
  organisation: { id: key.organisation_id, name: key.organisation_name, tier: key.tier as Tier },
  agentId: key.agent_id,
  role: key.role as Role | null,
  permissions: new Set(key.permissions as Permission[]),
  expiresAt: key.expires_at,
  user: null,
});

/** A key as it was sent, and the name that memory knows it by: memory holds no token. */
export interface Credential {
  readonly token: string;
  readonly name: string;
}

/** The key in `Authorization: Bearer <API_KEY>`; a typo is refused here, without asking anybody. */
export function presentedCredential(authorization: string | undefined): Credential {
  const token = authorization?.match(/^Bearer +(\S+)$/i)?.[1];
  if (!token) throw unauthorized("Send an API key in the header `Authorization: Bearer <API_KEY>`.");
  if (!isWellFormedToken(token)) throw notValid();
  // The keyed digest costs several times this hash and is for the database alone.
  return { token, name: hash("sha256", token, "base64") };
}

/** Keys, remembered while the epoch of their organisation holds. */
export interface KeyDirectory {
  /** Without an epoch: straight from the database, unless it was asked for and not found a moment ago. */
  readonly find: (credential: Credential, epoch?: Epoch) => Promise<PresentedKey>;
  /** What was last known of it. Its organisation and its revocation never change; the rest may. */
  readonly lastKnown: (credential: Credential) => PresentedKey | undefined;
}

interface KeyDirectoryDeps {
  readonly db: Database;
  readonly keyDigest: Digest;
  readonly now: () => number;
}

export function createKeyDirectory({ db, keyDigest, now }: KeyDirectoryDeps): KeyDirectory {
  const cache = createEpochCache<PresentedKey | undefined>({ most: mostKeys, now });
  const known = new LRUCache<string, PresentedKey>({ max: mostKeys });
  const unknown = new LRUCache<string, true>({ max: mostKeys, ttl: unknownForMs });

  const read = async ({ name, token }: Credential): Promise<PresentedKey | undefined> => {
    const key = await findKeyByDigest(db.unscoped, keyDigest(token));
    if (key) known.set(name, key);
    else unknown.set(name, true);
    return key;
  };

  return {
    find: async (credential, epoch) => {
      if (unknown.has(credential.name)) throw notValid();
      const key = await (epoch ? cache.load(credential.name, epoch, () => read(credential)) : read(credential));
      if (!key) throw notValid();
      return key;
    },
    lastKnown: ({ name }) => known.get(name),
  };
}

export function refuseEnded(key: PresentedKey, now: Date): void {
  const status = keyStatus(key, now);
  if (status !== "active") throw unauthorized(`This API key is ${status}. Use another one.`);
}

export function authorize({ permissions }: Caller, needed: Permission | null): void {
  if (needed === null || permissions.has(needed)) return;
  throw new ApiError(
    "forbidden",
    `This needs the permission ${needed}; this key holds ${[...permissions].join(", ")}.`,
  );
}
