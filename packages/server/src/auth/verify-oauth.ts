import type { RedactedAuth } from "@perch/contract";
import { errors, jwtVerify } from "jose";
import { storableText } from "../platform/storable-text.ts";
import { includesAudience, permissionsOf, scopesOf } from "./claim-rules.ts";
import { createIntrospect } from "./introspection.ts";
import { createFindIssuer, type Issuer, type IssuerDeps, issuerUnavailable } from "./oauth-issuer.ts";
import { invalidToken, type TokenUser } from "./token-user.ts";

export type OAuthSettings = Extract<RedactedAuth, { type: "oauth2" }> & { readonly clientSecret: string | undefined };

/** `organisationId` is the caller's, whose calls to issuers are limited. */
export type VerifyOAuth = (token: string, settings: OAuthSettings, organisationId: string) => Promise<TokenUser>;

type Claims = Readonly<Record<string, unknown>>;

/** Asymmetric algorithms only: with a symmetric one the issuer's public key could sign a token. */
export const asymmetricAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
export const clockToleranceSeconds = 30;

/** Three parts that begin with a JSON object are a JWT. Anything else is opaque: only its issuer can read it. */
const isJwt = (token: string): boolean => /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(token);

export function createVerifyOAuth(deps: IssuerDeps): VerifyOAuth {
  const findIssuer = createFindIssuer(deps);
  const introspect = createIntrospect(deps);

  const verifySignature = async ({ server, keys }: Issuer, token: string, audience: string): Promise<Claims> => {
    const currentDate = new Date(deps.now());
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: asymmetricAlgorithms,
        issuer: server.issuer,
        audience,
        requiredClaims: ["exp", "sub"],
        clockTolerance: clockToleranceSeconds,
        currentDate,
      });
      // jose accepts an `iat` in the future.
      if (payload.iat !== undefined && payload.iat > currentDate.getTime() / 1000 + clockToleranceSeconds)
        throw invalidToken();
      return payload;
    } catch (error) {
      if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) throw issuerUnavailable(error);
      if (error instanceof errors.JOSEError) throw invalidToken(error);
      throw error instanceof SyntaxError || error instanceof TypeError ? issuerUnavailable(error) : error;
    }
  };

  /** Waits for the issuer's keys only if they are not at hand. */
  const verifyJwt = (organisationId: string, issuer: Issuer, token: string, audience: string): Promise<Claims> => {
    const verify = () => verifySignature(issuer, token, audience);
    return issuer.keys.fresh && !issuer.keys.reloading ? verify() : deps.share.hold(organisationId, verify);
  };

  const introspectOpaque = async (
    organisationId: string,
    issuer: Issuer,
    token: string,
    settings: OAuthSettings,
  ): Promise<Claims> => {
    const { clientId, clientSecret, audience } = settings;
    if (clientSecret === undefined || !issuer.server.introspection_endpoint) throw invalidToken();
    const claims = await introspect(organisationId, issuer, { clientId, clientSecret }, token);
    if (!claims) throw invalidToken();
    const { exp, iss, aud, client_id } = claims;
    const isOurs =
      aud === undefined && audience === undefined
        ? client_id === clientId
        : includesAudience(aud, audience ?? clientId);
    const isLive = exp === undefined || (typeof exp === "number" && exp > deps.now() / 1000);
    if (!isOurs || !isLive || (iss !== undefined && iss !== issuer.server.issuer)) throw invalidToken();
    return claims;
  };

  return async (token, settings, organisationId) => {
    const issuer = await findIssuer(organisationId, settings.provider);
    const claims = isJwt(token)
      ? await verifyJwt(organisationId, issuer, token, settings.audience ?? settings.clientId)
      : await introspectOpaque(organisationId, issuer, token, settings);
    const id = claims.sub ?? claims.client_id;
    // Not made storable instead: two users could become one.
    if (typeof id !== "string" || id === "" || id.length > 256 || id !== storableText(id)) throw invalidToken();
    return { id, by: "oauth", permissions: permissionsOf(scopesOf(claims), settings.scopes) };
  };
}
