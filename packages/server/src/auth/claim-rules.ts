import { type Permission, permissions } from "@perch/contract";

const maxLifetimeSeconds = 3600;
const clockToleranceSeconds = 30;

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;

/** The user id of a JWT with `user_id`, `iat` and `exp`, valid now and for at most an hour; undefined if the claims are invalid. */
export function userIdFromClaims(claims: Readonly<Record<string, unknown>>, nowMs: number): string | undefined {
  const { user_id: userId, iat, exp } = claims;
  const now = nowMs / 1000;
  if (typeof userId !== "string" || userId.length === 0 || userId.length > 256) return undefined;
  if (!userId.isWellFormed() || userId.includes("\0") || !isTime(iat) || !isTime(exp)) return undefined;
  const isCurrent = iat <= now + clockToleranceSeconds && exp > now && exp > iat && exp - iat <= maxLifetimeSeconds;
  return isCurrent ? userId : undefined;
}

/** `scope` is a text with spaces (RFC 9068); some providers call it `scp`, or send a list. */
export function scopesOf({ scope, scp }: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const given = scope ?? scp;
  const listed = typeof given === "string" ? given.split(" ") : Array.isArray(given) ? given : [];
  return new Set(listed.filter((item): item is string => typeof item === "string"));
}

/** The permissions that a token grants: those whose scope it holds and the settings accept. */
export const permissionsOf = (scopes: ReadonlySet<string>, accepted: readonly string[]): ReadonlySet<Permission> =>
  new Set(permissions.filter((one) => scopes.has(`${one}:agents`) && accepted.includes(`${one}:agents`)));

export const includesAudience = (aud: unknown, expected: string): boolean =>
  Array.isArray(aud) ? aud.includes(expected) : aud === expected;
