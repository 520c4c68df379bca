import * as oauth from "oauth4webapi";
import type { SecretOwner } from "../secrets/find-secrets.ts";
import type { ResolveCall } from "../secrets/resolve-call.ts";
import type { OAuthConfiguration } from "./oauth-client.ts";
import { subjectOf } from "./oauth-failure.ts";

/** The secret of a client, just before it is sent to `url`. A configured one is refused unless its `hosts` name that address. */
async function findClientSecret(
  resolveCall: ResolveCall,
  owner: SecretOwner,
  { client, issuer }: OAuthConfiguration,
  url: string,
) {
  if (client.kind === "document") return undefined;
  if (client.kind === "registered" || client.clientSecret === undefined) return client.clientSecret;
  const call = { subject: subjectOf(issuer), url, headers: { authorization: client.clientSecret } };
  return (await resolveCall(owner, call)).headers.authorization;
}

function toClientAuth({ authMethod }: OAuthConfiguration, secret: string | undefined): oauth.ClientAuth {
  if (secret === undefined || authMethod === "none") return oauth.None();
  return authMethod === "client_secret_post" ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret);
}

/** How Perch presents itself to `url`. */
export const authenticate = async (
  resolveCall: ResolveCall,
  owner: SecretOwner,
  configuration: OAuthConfiguration,
  url: string,
): Promise<oauth.ClientAuth> =>
  toClientAuth(configuration, await findClientSecret(resolveCall, owner, configuration, url));
