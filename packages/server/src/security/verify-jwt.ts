import { createHash } from "node:crypto";
import { jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import { userOfClaims } from "./claim-rules.ts";
import { invalidToken, type TokenUser } from "./user.ts";

const mostTokens = 1000;

/** An HS256 token under one of these secrets. The token says which algorithm it uses; we do not listen. */
export function createVerifyJwt(secrets: readonly string[]): (token: string, nowMs: number) => Promise<TokenUser> {
  const keys = secrets.map((secret) => Buffer.from(secret));
  // A signature that was right stays right; the times are looked at anew. Kept by digest: memory holds no token.
  const checked = new LRUCache<string, Readonly<Record<string, unknown>>>({ max: mostTokens });

  const claimsOf = async (token: string, nowMs: number) => {
    const digest = createHash("sha256").update(token).digest("base64");
    const known = checked.get(digest);
    if (known) return known;
    let failure: unknown;
    for (const key of keys) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: ["HS256"],
          currentDate: new Date(nowMs),
          requiredClaims: ["user_id", "exp", "iat"],
        });
        checked.set(digest, payload);
        return payload;
      } catch (error) {
        failure = error;
      }
    }
    throw invalidToken(failure);
  };

  return async (token, nowMs) => {
    const id = userOfClaims(await claimsOf(token, nowMs), nowMs);
    if (id === undefined) throw invalidToken();
    return { id, by: "jwt", permissions: null };
  };
}
