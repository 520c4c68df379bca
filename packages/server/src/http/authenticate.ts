import type { Permission, Role, Tier } from "@perch/contract";
import type { Database } from "../db/database.ts";
import type { Caller } from "../handlers.ts";
import { findKeyByDigest, type PresentedKey } from "../keys/key-queries.ts";
import { keyStatus } from "../keys/key-rules.ts";
import { isWellFormedToken } from "../keys/key-token.ts";
import type { KeyUsage } from "../keys/key-usage.ts";
import { ApiError } from "../platform/api-error.ts";
import type { Digest } from "../platform/secrets.ts";

interface AuthenticateDeps {
  readonly db: Database;
  readonly keyDigest: Digest;
  readonly keyUsage: KeyUsage;
  readonly now: () => Date;
}

export type Authenticate = (authorization: string | undefined) => Promise<Caller>;

const unauthorized = (message: string) => new ApiError("unauthorized", message);

const toCaller = (key: PresentedKey): Caller => ({
  keyId: key.id,
  keyName: key.name,
  organisation: { id: key.organisation_id, name: key.organisation_name, tier: key.tier as Tier },
  agentId: key.agent_id,
  role: key.role as Role | null,
  permissions: new Set(key.permissions as Permission[]),
  expiresAt: key.expires_at,
});

/** Who the header `Authorization: Bearer <API_KEY>` says is calling. */
export const createAuthenticate =
  ({ db, keyDigest, keyUsage, now }: AuthenticateDeps): Authenticate =>
  async (authorization) => {
    const token = authorization?.match(/^Bearer +(\S+)$/i)?.[1];
    if (!token) throw unauthorized("Send an API key in the header `Authorization: Bearer <API_KEY>`.");
    const key = isWellFormedToken(token) ? await findKeyByDigest(db.unscoped, keyDigest(token)) : undefined;
    if (!key) throw unauthorized("This API key is not valid. Check that it was copied whole.");
    const at = now();
    const status = keyStatus(key, at);
    if (status !== "active") throw unauthorized(`This API key is ${status}. Use another one.`);
    keyUsage.note(key.id, at);
    return toCaller(key);
  };

export function authorize({ permissions }: Caller, needed: Permission | null): void {
  if (needed === null || permissions.has(needed)) return;
  throw new ApiError(
    "forbidden",
    `This needs the permission ${needed}; this key holds ${[...permissions].join(", ")}.`,
  );
}
