import type { RedactedAuth } from "@perch/contract";
import { ApiError } from "../platform/api-error.ts";
import type { AuthSecrets } from "./agent-auth.ts";
import { invalidToken, type TokenUser, tokenHeader } from "./token-user.ts";
import { createVerifyJwt } from "./verify-jwt.ts";
import type { VerifyOAuth } from "./verify-oauth.ts";

/** Verifies the token in `X-User-Token` for a caller of this organisation and returns its user. */
export type VerifyUser = (token: string | undefined, organisationId: string) => Promise<TokenUser>;

interface UserTokenDeps {
  readonly verifyOAuth: VerifyOAuth;
  readonly now: () => number;
}

const maxTokenLength = 8192;

export function createVerifyUser(
  { verifyOAuth, now }: UserTokenDeps,
  redacted: RedactedAuth,
  { secret, previousSecret, clientSecret }: AuthSecrets,
): VerifyUser {
  const verifyJwt = createVerifyJwt([secret, previousSecret].filter((one): one is string => one !== undefined));
  return async (token, organisationId) => {
    if (token === undefined || token === "")
      throw new ApiError("unauthorized", `This needs a token of the user in the header \`${tokenHeader}\`.`);
    if (token.length > maxTokenLength || !/^[\x21-\x7e]+$/.test(token)) throw invalidToken();
    if (redacted.type === "jwt") return verifyJwt(token, now());
    return verifyOAuth(token, { ...redacted, clientSecret }, organisationId);
  };
}
