import * as oauth from "oauth4webapi";
import { toClient, toServer } from "./authorization-request.ts";
import { authenticate } from "./client-auth.ts";
import type { OAuthClient } from "./oauth-client.ts";
import { ask, callOptions, type TokenRequestDeps } from "./token-requests.ts";

/** Answers of servers that no longer know the token, which count as success. */
const alreadyRevoked: readonly string[] = ["invalid_token", "invalid_grant"];

async function readAnswer(response: Response): Promise<"done" | "not_offered"> {
  try {
    await oauth.processRevocationResponse(response);
    return "done";
  } catch (error) {
    if (!(error instanceof oauth.ResponseBodyError)) throw error;
    if (alreadyRevoked.includes(error.error)) return "done";
    if (error.error === "unsupported_token_type") return "not_offered";
    throw error;
  }
}

export const createRevoke =
  ({ limitedFetch, resolveCall }: Omit<TokenRequestDeps, "now">): OAuthClient["revoke"] =>
  async (owner, configuration, { accessToken, refreshToken }, signal) => {
    const { revocationEndpoint } = configuration;
    if (revocationEndpoint === null) return "not_offered";
    // A server ends the whole consent with its refresh token (RFC 7009).
    const [token, hint] = refreshToken === null ? [accessToken, "access_token"] : [refreshToken, "refresh_token"];
    const request = async () => {
      const auth = await authenticate(resolveCall, owner, configuration, revocationEndpoint);
      return oauth.revocationRequest(toServer(configuration), toClient(configuration), auth, token, {
        ...callOptions(limitedFetch, configuration, signal),
        additionalParameters: { token_type_hint: hint },
      });
    };
    return ask(configuration, "revocation", request, readAnswer);
  };
