import { createHash } from "node:crypto";
import { jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import { userIdFromClaims } from "./claim-rules.ts";
import { invalidToken, type TokenUser } from "./token-user.ts";

const maxTokens = 1000;

/** Verifies an HS256 token with one of these secrets. The algorithm in the token's header is ignored. */
export function createVerifyJwt(secrets: readonly string[]): (token: string, nowMs: number) => Promise<TokenUser> {
  const keys = secrets.map((secret) => Buffer.from(secret));
  // A valid signature stays valid; the times are checked on every call. Keyed by digest, so that memory contains no token.
  const claimsByDigest = new LRUCache<string, Readonly<Record<string, unknown>>>({ max: maxTokens });

  const verifyClaims = async (token: string, nowMs: number) => {
    const digest = createHash("sha256").update(token).digest("base64");
    const cached = claimsByDigest.get(digest);
    if (cached) return cached;
    let failure: unknown;
    for (const key of keys) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: ["HS256"],
          currentDate: new Date(nowMs),
          requiredClaims: ["user_id", "exp", "iat"],
        });
        claimsByDigest.set(digest, payload);
        return payload;
      } catch (error) {
        failure = error;
      }
    }
    throw invalidToken(failure);
  };

  return async (token, nowMs) => {
    const id = userIdFromClaims(await verifyClaims(token, nowMs), nowMs);
    if (id === undefined) throw invalidToken();
    return { id, by: "jwt", permissions: null };
  };
}
