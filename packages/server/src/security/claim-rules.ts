import { type Permission, permissions } from "@perch/contract";

const mostSeconds = 3600;
/** The clocks of two machines differ by a little. */
const clocksDifferSeconds = 30;

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;

/** The user of a JWT of ours: `user_id`, `iat` and `exp`, at most an hour apart; undefined where the claims do not hold. */
export function userOfClaims(claims: Readonly<Record<string, unknown>>, nowMs: number): string | undefined {
  const { user_id: userId, iat, exp } = claims;
  const now = nowMs / 1000;
  if (typeof userId !== "string" || userId.length === 0 || userId.length > 256) return undefined;
  if (!userId.isWellFormed() || userId.includes("\0") || !isTime(iat) || !isTime(exp)) return undefined;
  const holds = iat <= now + clocksDifferSeconds && exp > now && exp > iat && exp - iat <= mostSeconds;
  return holds ? userId : undefined;
}

/** `scope` is a text with spaces (RFC 9068); some providers call it `scp`, or send a list. */
export function scopesOf({ scope, scp }: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const given = scope ?? scp;
  const listed = typeof given === "string" ? given.split(" ") : Array.isArray(given) ? given : [];
  return new Set(listed.filter((item): item is string => typeof item === "string"));
}

/** What a token allows: the permissions whose scope it holds and whose scope counts here. */
export const permissionsOf = (scopes: ReadonlySet<string>, counted: readonly string[]): ReadonlySet<Permission> =>
  new Set(permissions.filter((one) => scopes.has(`${one}:agents`) && counted.includes(`${one}:agents`)));

export const namesAudience = (aud: unknown, expected: string): boolean =>
  Array.isArray(aud) ? aud.includes(expected) : aud === expected;
