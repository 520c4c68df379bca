import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { Provider } from "oidc-provider";
import { freePort } from "../installation/server-process.ts";

/** The issuer's claims about an account, of any type: a hostile issuer may send anything. */
export type Account = Readonly<Record<string, unknown>>;

export interface PeopleIssuerOptions {
  /** Origins of Perch that may send people here. */
  readonly origins: readonly string[];
  /** Keyed by user name, which is the subject too. They may change at any time. */
  readonly accounts: Map<string, Account>;
  /** Whether the ID token contains the groups. Otherwise only userinfo has them. */
  readonly groupsInIdToken?: boolean;
  readonly refreshTokens?: boolean;
  readonly accessTokenSeconds?: number;
}

/** A real OpenID provider on loopback where people sign in. Its page asks only for a user name. */
export interface PeopleIssuer {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Signs any claims with the issuer's own key. */
  readonly signToken: (claims: Record<string, unknown>) => Promise<string>;
  /** The requests for tokens so far. */
  readonly tokenRequests: () => number;
  /** The next request of this path gets this as JSON, or 503 if it is undefined. */
  readonly answerNext: (path: string, answer: () => Promise<object | undefined>) => void;
  readonly stop: () => Promise<void>;
  /** After a stop, starts at the same address with the same state. */
  readonly start: () => Promise<void>;
}

const client = { clientId: "perch-console", clientSecret: "a-secret-of-the-console" };

const page = (uid: string, message: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sign in</title></head>
<body><h1>Sign in</h1><p>${message}</p>
<form method="post" action="/interaction/${uid}">
<label>User name <input name="login" autofocus autocomplete="username"></label>
<button>Continue</button> <button name="cancel" value="1">Cancel</button>
</form></body></html>`;

function createProvider(issuer: string, jwk: object, options: PeopleIssuerOptions): Provider {
  const { origins, accounts, groupsInIdToken = true, refreshTokens = true, accessTokenSeconds = 600 } = options;
  const provider: Provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        redirect_uris: origins.map((origin) => `${origin}/console/oidc/callback`),
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ["only-for-tests"] },
    conformIdTokenClaims: !groupsInIdToken,
    claims: { openid: ["sub"], profile: ["name", "preferred_username"], email: ["email"], groups: ["groups"] },
    scopes: ["openid", "profile", "email", "groups", "offline_access"],
    pkce: { required: () => true },
    ttl: { AccessToken: accessTokenSeconds, Grant: 86_400, Session: 86_400, Interaction: 600, IdToken: 600 },
    issueRefreshToken: async () => refreshTokens,
    rotateRefreshToken: true,
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, accountId: string) => {
      const claims = accounts.get(accountId);
      return claims && { accountId, claims: () => ({ sub: accountId, ...claims }) };
    },
    // Consent is not requested, because the client is the installation's own.
    loadExistingGrant: async ({ oidc }: { readonly oidc: { readonly session: { readonly accountId: string } } }) => {
      const grant = new provider.Grant({ clientId: client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope("openid profile email groups offline_access");
      await grant.save();
      return grant;
    },
  });
  return provider;
}

async function interact(provider: Provider, accounts: Map<string, Account>, to: IncomingMessage, back: ServerResponse) {
  const { uid } = await provider.interactionDetails(to, back);
  const form = to.method === "POST" ? new URLSearchParams(await text(to)) : undefined;
  if (form?.has("cancel"))
    return provider.interactionFinished(to, back, { error: "access_denied", error_description: "<b>text</b>" });
  const login = form?.get("login") ?? "";
  if (accounts.has(login)) return provider.interactionFinished(to, back, { login: { accountId: login } });
  back.setHeader("content-type", "text/html; charset=utf-8");
  back.end(page(uid, form ? "There is no such user." : "This issuer is for tests: it asks for no password."));
}

export async function startPeopleIssuer(options: PeopleIssuerOptions): Promise<PeopleIssuer> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: "first", alg: "RS256", use: "sig" };
  let server: Server;
  let tokenRequests = 0;
  const replaced = new Map<string, () => Promise<object | undefined>>();

  const answerInstead = async (path: string, response: ServerResponse) => {
    const body = await replaced.get(path)?.();
    replaced.delete(path);
    if (body) response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    else response.writeHead(503).end();
  };

  const provider = createProvider(issuer, jwk, options);
  const answer = provider.callback();
  const start = async () => {
    server = createServer((request, response) => {
      if (request.url === "/token") tokenRequests += 1;
      const { url = "" } = request;
      const handle = () => {
        if (replaced.has(url)) return answerInstead(url, response);
        if (url.startsWith("/interaction/")) return interact(provider, options.accounts, request, response);
        return answer(request, response);
      };
      handle().catch((error: unknown) => response.writeHead(500).end(String(error)));
    }).listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  await start();

  return {
    issuer,
    ...client,
    signToken: (claims) => new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "first" }).sign(privateKey),
    tokenRequests: () => tokenRequests,
    answerNext: (path, instead) => void replaced.set(path, instead),
    start,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
