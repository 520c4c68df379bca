import type { ShownAuth } from "@perch/contract";
import { ApiError } from "../platform/api-error.ts";
import type { AuthSecrets } from "./agent-auth.ts";
import { invalidToken, type TokenUser, tokenHeader } from "./user.ts";
import { createVerifyJwt } from "./verify-jwt.ts";
import type { VerifyOAuth } from "./verify-oauth.ts";

/** Checks what came in `X-User-Token`, and says who it speaks for. */
export type VerifyUser = (token: string | undefined) => Promise<TokenUser>;

interface UserTokenDeps {
  readonly verifyOAuth: VerifyOAuth;
  readonly now: () => number;
}

const longestToken = 8192;

/** Made ready once for each reading of the settings. */
export function createVerifyUser(
  { verifyOAuth, now }: UserTokenDeps,
  shown: ShownAuth,
  { secret, previousSecret, clientSecret }: AuthSecrets,
): VerifyUser {
  const verifyJwt = createVerifyJwt([secret, previousSecret].filter((one): one is string => one !== undefined));
  return async (token) => {
    if (token === undefined || token === "")
      throw new ApiError("unauthorized", `This needs a token of the user in the header \`${tokenHeader}\`.`);
    if (token.length > longestToken || !/^[\x21-\x7e]+$/.test(token)) throw invalidToken();
    return shown.type === "jwt" ? verifyJwt(token, now()) : verifyOAuth(token, { ...shown, clientSecret });
  };
}
