import { jwtVerify } from "jose";
import * as oauth from "oauth4webapi";
import { isInsecure } from "../outbound/oauth/secure-address.ts";
import { type FindIssuer, type Issuer, issuerTimeoutMs } from "./oauth-issuer.ts";
import { OpenIdFailure, type Phase, toFailure } from "./openid-failure.ts";
import { type Claims, groupsFromClaims } from "./person-rules.ts";
import { asymmetricAlgorithms, clockToleranceSeconds } from "./verify-oauth.ts";

export interface OpenIdSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: a public client. */
  readonly clientSecret: string | undefined;
  readonly scopes: readonly string[];
  readonly groupsClaim: string;
  /** The address to which the issuer returns browsers. */
  readonly redirectUri: string;
}

/** The secrets that tie an issuer's answer to the browser that asked. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

export interface PersonTokens {
  readonly refreshToken: string | null;
  readonly accessToken: string;
  /** Null if the issuer does not report it. */
  readonly accessTokenExpiresAtMs: number | null;
}

/** The issuer's current statement about a person. */
export interface IssuerAnswer {
  readonly claims: Claims;
  readonly tokens: PersonTokens;
}

/** The issuer may have spent the tokens that it was asked with, so `tokens` are stored before anything else is read. */
export interface AskedAgain {
  readonly tokens: PersonTokens;
  readonly readClaims: () => Promise<Claims>;
}

/** The client of one OpenID Connect issuer: the code flow with PKCE. Everything that it throws is an `OpenIdFailure`. */
export interface OpenIdClient {
  readonly begin: () => Promise<{ readonly url: URL; readonly secrets: SignInSecrets }>;
  readonly finish: (parameters: URLSearchParams, secrets: SignInSecrets) => Promise<IssuerAnswer>;
  /**
   * Asks again, with the refresh token if there is one. The failure is `refused` if the issuer no longer admits the
   * person.
   */
  readonly ask: (subject: string, tokens: PersonTokens) => Promise<AskedAgain>;
}

interface OpenIdClientDeps {
  readonly settings: OpenIdSettings;
  readonly findIssuer: FindIssuer;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
}

/** The operator's issuer belongs to no organisation. */
const operator = "operator";

const clientAuth = ({ server }: Issuer, secret: string | undefined): oauth.ClientAuth => {
  if (secret === undefined) return oauth.None();
  const methods = server.token_endpoint_auth_methods_supported;
  return methods?.includes("client_secret_post") && !methods.includes("client_secret_basic")
    ? oauth.ClientSecretPost(secret)
    : oauth.ClientSecretBasic(secret);
};

/** With this header, the token endpoint asks for the client's own password, so it proves nothing about the person. */
const clientRefused = (error: unknown): never => {
  if (!(error instanceof oauth.WWWAuthenticateChallengeError)) throw error;
  throw new OpenIdFailure(
    "unavailable",
    `the issuer answered ${error.status} to the client: compare client_id and client_secret in PERCH_OIDC with the issuer`,
  );
};

/** Every failure gets a kind, and contains no text of the issuer or the browser. */
async function withKind<T>(work: () => Promise<T>, phase: Phase): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFailure(error, phase);
  }
}

/**
 * The tokens of an answer, whatever else is wrong with it: a new refresh token counts even if the ID token beside it does not.
 * Undefined if there are none.
 */
async function readGivenTokens(response: Response): Promise<oauth.TokenEndpointResponse | undefined> {
  if (!response.ok) return undefined;
  const body = (await response
    .clone()
    .json()
    .catch(() => undefined)) as Partial<Record<string, unknown>> | undefined;
  const { access_token, refresh_token, expires_in } = body ?? {};
  if (typeof access_token !== "string") return undefined;
  const seconds = expires_in === undefined ? Number.NaN : Number(expires_in);
  return {
    access_token,
    token_type: "bearer",
    ...(typeof refresh_token === "string" && { refresh_token }),
    ...(Number.isFinite(seconds) && { expires_in: seconds }),
  };
}

export function createOpenIdClient({ settings, findIssuer, fetch, now }: OpenIdClientDeps): OpenIdClient {
  const client: oauth.Client = { client_id: settings.clientId, [oauth.clockTolerance]: clockToleranceSeconds };

  const callOptions = () => ({
    [oauth.customFetch]: (to: string, init: { readonly method: string }) => fetch(to, init as RequestInit),
    [oauth.allowInsecureRequests]: isInsecure(settings.issuer),
    signal: AbortSignal.timeout(issuerTimeoutMs),
  });

  /** `oauth4webapi` has compared the claims. The signature is checked too, so that TLS is not the only proof. */
  const verifyIdToken = async ({ keys, server }: Issuer, { id_token }: oauth.TokenEndpointResponse): Promise<void> => {
    if (id_token === undefined) return;
    await jwtVerify(id_token, keys, {
      algorithms: asymmetricAlgorithms,
      issuer: server.issuer,
      audience: settings.clientId,
      clockTolerance: clockToleranceSeconds,
    });
  };

  const userInfo = async ({ server }: Issuer, subject: string, accessToken: string): Promise<Claims | undefined> => {
    if (server.userinfo_endpoint === undefined) return undefined;
    const response = await oauth.userInfoRequest(server, client, accessToken, callOptions());
    return oauth.processUserInfoResponse(server, client, subject, response);
  };

  /** Issuers put groups into the ID token, into the answer of userinfo, or into both. */
  const withGroups = async (issuer: Issuer, idClaims: Claims, subject: string, accessToken: string) => {
    if (groupsFromClaims(idClaims, settings.groupsClaim)) return idClaims;
    return { ...idClaims, ...(await userInfo(issuer, subject, accessToken)) };
  };

  const toTokens = (answer: oauth.TokenEndpointResponse, previous: string | null): PersonTokens => ({
    refreshToken: answer.refresh_token ?? previous,
    accessToken: answer.access_token,
    accessTokenExpiresAtMs: answer.expires_in === undefined ? null : now() + answer.expires_in * 1000,
  });

  const finish = async (issuer: Issuer, parameters: URLSearchParams, secrets: SignInSecrets): Promise<IssuerAnswer> => {
    const { server } = issuer;
    const callback = oauth.validateAuthResponse(server, client, parameters, secrets.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      clientAuth(issuer, settings.clientSecret),
      callback,
      settings.redirectUri,
      secrets.codeVerifier,
      callOptions(),
    );
    const answer = await oauth
      .processAuthorizationCodeResponse(server, client, response, {
        expectedNonce: secrets.nonce,
        requireIdToken: true,
      })
      .catch(clientRefused);
    await verifyIdToken(issuer, answer);
    const idClaims = oauth.getValidatedIdTokenClaims(answer);
    if (!idClaims) throw new OpenIdFailure("invalid", "the answer has no ID token");
    const claims = await withGroups(issuer, idClaims, idClaims.sub, answer.access_token);
    return { claims, tokens: toTokens(answer, null) };
  };

  const refresh = async (issuer: Issuer, subject: string, refreshToken: string): Promise<AskedAgain> => {
    const { server } = issuer;
    const auth = clientAuth(issuer, settings.clientSecret);
    const response = await oauth.refreshTokenGrantRequest(server, client, auth, refreshToken, callOptions());
    const given = await readGivenTokens(response);
    const readAnswer = () => oauth.processRefreshTokenResponse(server, client, response).catch(clientRefused);
    if (!given) {
      await readAnswer();
      throw new OpenIdFailure("unavailable", "the answer has no tokens");
    }
    const readClaims = async () => {
      const answer = await readAnswer();
      await verifyIdToken(issuer, answer);
      const idClaims = oauth.getValidatedIdTokenClaims(answer);
      if (idClaims && idClaims.sub !== subject) throw new OpenIdFailure("refused", "the refreshed token is another's");
      return { ...(await withGroups(issuer, idClaims ?? {}, subject, answer.access_token)), sub: subject };
    };
    return { tokens: toTokens(given, refreshToken), readClaims: () => withKind(readClaims, "recheck") };
  };

  const askUserInfo = async (issuer: Issuer, subject: string, tokens: PersonTokens): Promise<AskedAgain> => {
    const expired = tokens.accessTokenExpiresAtMs !== null && tokens.accessTokenExpiresAtMs <= now();
    const claims = expired ? undefined : await userInfo(issuer, subject, tokens.accessToken);
    if (!claims) throw new OpenIdFailure("refused", "there is no token left to ask the issuer with");
    return { tokens, readClaims: async () => claims };
  };

  const withIssuer = <T>(work: (issuer: Issuer) => Promise<T>, phase: Phase): Promise<T> =>
    withKind(async () => work(await findIssuer(operator, settings.issuer)), phase);

  return {
    begin: () =>
      withIssuer(async ({ server }) => {
        if (server.authorization_endpoint === undefined || server.token_endpoint === undefined)
          throw new OpenIdFailure("unavailable", "the issuer has no endpoint for the code flow");
        const secrets = {
          state: oauth.generateRandomState(),
          nonce: oauth.generateRandomNonce(),
          codeVerifier: oauth.generateRandomCodeVerifier(),
        };
        const url = new URL(server.authorization_endpoint);
        const parameters = {
          response_type: "code",
          client_id: settings.clientId,
          redirect_uri: settings.redirectUri,
          scope: settings.scopes.join(" "),
          state: secrets.state,
          nonce: secrets.nonce,
          code_challenge: await oauth.calculatePKCECodeChallenge(secrets.codeVerifier),
          code_challenge_method: "S256",
        };
        for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
        return { url, secrets };
      }, "sign-in"),
    finish: (parameters, secrets) => withIssuer((issuer) => finish(issuer, parameters, secrets), "sign-in"),
    ask: (subject, tokens) =>
      withIssuer(
        (issuer) =>
          tokens.refreshToken === null
            ? askUserInfo(issuer, subject, tokens)
            : refresh(issuer, subject, tokens.refreshToken),
        "recheck",
      ),
  };
}
