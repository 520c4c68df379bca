import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify } from "jose";
import { interactionPolicy, Provider } from "oidc-provider";
import {
  callbackPath,
  parseOrganisationIssuer,
  redirectAddress,
} from "../../../server/src/outbound/oauth/redirect-address.ts";
import { newUuid } from "../../../server/src/platform/ids.ts";
import { freePort } from "../installation/server-process.ts";
import { handleInteraction } from "./account-provider-pages.ts";
import { type AccountStore, createAccountStore } from "./account-store.ts";

export const accountScopes = ["mail.read", "mail.send", "offline_access"];

/** Its clients from the start. A machine client has its own credentials and no users. */
export const accountClients = {
  public: { clientId: "perch-public" },
  confidential: { clientId: "perch-confidential", clientSecret: "a-secret-of-the-account-client" },
  machine: { clientId: "perch-machine", clientSecret: "a-secret-of-the-machine-client" },
} as const;

/** The behaviour of the token endpoint. A function's answer is sent as JSON. */
export type TokenEndpointMode =
  | "up"
  | "hang"
  | "reset"
  | {
      readonly status: number;
      readonly body?: object | string;
      readonly headers?: Record<string, string>;
      readonly delayMs?: number;
    };

export interface AccountProviderOptions {
  /** Public URLs of Perch: configured clients may be sent back to their callbacks. */
  readonly perch: readonly string[];
  readonly dynamicRegistration?: boolean;
  /** Offers client id metadata documents, and fetches them with this. */
  readonly fetchDocument?: (url: string) => Promise<Response>;
  readonly revocation?: boolean;
  readonly refreshTokens?: boolean;
  /** Sends a user back without asking if the same consent was given before, as many providers do. */
  readonly remembersConsents?: boolean;
  readonly rotation?: boolean;
  readonly accessTokenSeconds?: number;
  /** Added to its metadata; an undefined field is removed. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface TokenRequest {
  readonly grantType: string;
  readonly clientId: string;
  readonly resource: string | undefined;
  readonly status: number;
}

/** The owner of an access token. Client credentials have no user. */
export interface TokenOwner {
  readonly user: string | undefined;
  readonly clientId: string;
  readonly scopes: string[];
  readonly audience: string | undefined;
  readonly expiresAtSeconds: number;
}

/** A real authorization server on loopback, where users have accounts. Its pages ask for a user name, and then for consent. */
export interface AccountProvider {
  readonly issuer: string;
  /** The requests that the server itself answered, in order. */
  readonly tokenRequests: readonly TokenRequest[];
  readonly countTokenRequests: (grantType: TokenRequest["grantType"], status?: number) => number;
  /** "POST /token", in order, whatever the answer. */
  readonly requests: readonly string[];
  readonly setTokenEndpoint: (mode: TokenEndpointMode) => void;
  readonly setAccessTokenSeconds: (seconds: number) => void;
  /** Its tokens and refresh tokens become invalid. */
  readonly revokeGrants: (user: string) => void;
  readonly hasGrant: (user: string) => boolean;
  /** Undefined unless the token is valid: signature, expiry, and a grant that was not revoked. */
  readonly verifyToken: (token: string) => Promise<TokenOwner | undefined>;
  readonly stop: () => Promise<void>;
  /** After a stop, starts at the same address with the same state. */
  readonly start: () => Promise<void>;
}

const codeGrants = ["authorization_code", "refresh_token"];

function configuredClients(issuer: string, perch: readonly string[]) {
  const users = {
    redirect_uris: perch.map((publicUrl) => redirectAddress(publicUrl, { organisationId: newUuid(), issuer })),
    grant_types: codeGrants,
    response_types: ["code"],
  };
  return [
    { client_id: accountClients.public.clientId, token_endpoint_auth_method: "none", ...users },
    {
      client_id: accountClients.confidential.clientId,
      client_secret: accountClients.confidential.clientSecret,
      ...users,
    },
    {
      client_id: accountClients.machine.clientId,
      client_secret: accountClients.machine.clientSecret,
      redirect_uris: [],
      grant_types: ["client_credentials"],
      response_types: [],
    },
  ];
}

/** Organisations are created after the provider, so its configured clients have the redirect addresses of all of them. */
function allowEveryOrganisation({ Client }: Provider, issuer: string, perch: readonly string[]): void {
  const configured: readonly string[] = Object.values(accountClients).map(({ clientId }) => clientId);
  const { redirectUriAllowed } = Client.prototype;
  Client.prototype.redirectUriAllowed = function (this: typeof Client.prototype, address: string) {
    const publicUrl = perch.find((url) => address.startsWith(url + callbackPath));
    if (publicUrl === undefined || !configured.includes(this.clientId)) return redirectUriAllowed.call(this, address);
    return parseOrganisationIssuer(address.slice(publicUrl.length + callbackPath.length))?.issuer === issuer;
  };
}

/** Asks every time, unless it may remember: oidc-provider asks only once for the same client and scopes. */
function consentPolicy(remembersConsents: boolean) {
  const policy = interactionPolicy.base();
  if (remembersConsents) return policy;
  policy
    .get("consent")
    .checks.add(
      new interactionPolicy.Check(
        "always",
        "consent is always asked for",
        "consent_required",
        ({ oidc }) => !oidc.result?.consent,
      ),
    );
  return policy;
}

interface ProviderParts {
  readonly issuer: string;
  readonly jwk: object;
  readonly store: AccountStore;
  readonly accessTokenSeconds: () => number;
}

function createProvider({ issuer, jwk, store, accessTokenSeconds }: ProviderParts, options: AccountProviderOptions) {
  const { perch, dynamicRegistration = true, fetchDocument, revocation = true, refreshTokens = true } = options;
  const provider = new Provider(issuer, {
    adapter: store.adapter,
    clients: configuredClients(issuer, perch),
    jwks: { keys: [jwk] },
    cookies: { keys: ["only-for-tests"] },
    scopes: accountScopes,
    pkce: { required: () => true },
    ttl: {
      AccessToken: accessTokenSeconds,
      ClientCredentials: accessTokenSeconds,
      RefreshToken: 86_400,
      Grant: 86_400,
      Session: 86_400,
      Interaction: 600,
    },
    issueRefreshToken: async () => refreshTokens,
    expiresWithSession: async () => false,
    rotateRefreshToken: options.rotation ?? true,
    extraTokenClaims: (_: unknown, token: { readonly grantId?: string }) => ({ grant: token.grantId }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      registration: { enabled: dynamicRegistration },
      revocation: { enabled: revocation, allowedPolicy: async () => true },
      clientIdMetadataDocument: { enabled: fetchDocument !== undefined, ack: "draft-02" },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_: unknown, resource: string) => ({
          scope: accountScopes.join(" "),
          audience: resource,
          accessTokenTTL: accessTokenSeconds(),
          accessTokenFormat: "jwt",
        }),
      },
    },
    ...(fetchDocument && { fetch: (url: string | URL) => fetchDocument(String(url)) }),
    interactions: {
      policy: consentPolicy(options.remembersConsents ?? false),
      url: (_: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}`,
    },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
  });
  allowEveryOrganisation(provider, issuer, perch);
  return provider;
}

const metadataPaths = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];

/** The server's own JSON answer, with changes. */
function changeMetadata(response: ServerResponse, change: Readonly<Record<string, unknown>>): void {
  const end = response.end.bind(response);
  response.end = ((body: string | Buffer) => {
    const changed = JSON.stringify({ ...JSON.parse(body.toString()), ...change });
    response.setHeader("content-length", Buffer.byteLength(changed));
    return end(changed);
  }) as typeof response.end;
}

/** Undefined if the server itself answers. */
function answerInstead(
  mode: TokenEndpointMode,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> | undefined {
  if (mode === "up") return undefined;
  if (mode === "hang") return Promise.resolve();
  if (mode === "reset") return Promise.resolve(void request.socket.destroy());
  const { status, body = "", headers = { "content-type": "application/json" }, delayMs = 0 } = mode;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return setTimeout(delayMs).then(() => void response.writeHead(status, headers).end(text));
}

export async function startAccountProvider(options: AccountProviderOptions): Promise<AccountProvider> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const key = { kid: "first", alg: "RS256", use: "sig" };
  const publicKeys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), ...key }] });
  const store = createAccountStore();
  const tokenRequests: TokenRequest[] = [];
  const requests: string[] = [];
  let mode: TokenEndpointMode = "up";
  let seconds = options.accessTokenSeconds ?? 3600;
  let server: Server;

  const jwk = { ...(await exportJWK(privateKey)), ...key };
  const provider = createProvider({ issuer, jwk, store, accessTokenSeconds: () => seconds }, options);
  provider.use(async (context, next) => {
    await next();
    // Undefined for a request outside the protocol, such as a browser's request for an icon.
    if (context.oidc?.route !== "token") return;
    const { params = {}, client } = context.oidc;
    const { grant_type, resource } = params;
    tokenRequests.push({
      grantType: String(grant_type),
      clientId: client?.clientId ?? "",
      resource: resource === undefined ? undefined : String(resource),
      status: context.status,
    });
  });
  const answer = provider.callback();
  const handle = (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url = "" } = request;
    requests.push(`${method} ${url}`);
    if (url.startsWith("/interaction/")) return handleInteraction(provider, request, response);
    if (options.metadata && metadataPaths.includes(url)) changeMetadata(response, options.metadata);
    return (url === "/token" ? answerInstead(mode, request, response) : undefined) ?? answer(request, response);
  };
  const start = async () => {
    server = createServer((request, response) => {
      handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    }).listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  await start();

  const verifyJwt = async (token: string): Promise<TokenOwner | undefined> => {
    const { payload } = await jwtVerify(token, publicKeys, { issuer, typ: "at+jwt" });
    const isOfUser = typeof payload.grant === "string";
    if (isOfUser && !store.hasGrant(String(payload.grant))) return undefined;
    return {
      user: isOfUser ? String(payload.sub) : undefined,
      clientId: String(payload.client_id),
      scopes: String(payload.scope ?? "").split(" "),
      audience: payload.aud === undefined ? undefined : String(payload.aud),
      expiresAtSeconds: payload.exp ?? 0,
    };
  };
  const findOpaque = async (token: string): Promise<TokenOwner | undefined> => {
    const found = await provider.AccessToken.find(token);
    if (!found) return undefined;
    const { accountId, clientId, scope = "", exp } = found;
    return { user: accountId, clientId, scopes: scope.split(" "), audience: undefined, expiresAtSeconds: exp };
  };

  return {
    issuer,
    tokenRequests,
    countTokenRequests: (grantType, status) =>
      tokenRequests.filter((made) => made.grantType === grantType && (status === undefined || made.status === status))
        .length,
    requests,
    setTokenEndpoint: (next) => {
      mode = next;
    },
    setAccessTokenSeconds: (next) => {
      seconds = next;
    },
    revokeGrants: (user) => {
      for (const id of store.grantsOf(user)) store.deleteGrant(id);
    },
    hasGrant: (user) => store.grantsOf(user).length > 0,
    verifyToken: (token) =>
      token.split(".").length === 3 ? verifyJwt(token).catch(() => undefined) : findOpaque(token),
    start,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
