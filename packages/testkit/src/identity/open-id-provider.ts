import { once } from "node:events";
import type { Server } from "node:http";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { Provider } from "oidc-provider";
import { freePort } from "../installation/server-process.ts";

export interface OpenIdProvider {
  readonly issuer: string;
  /** Issues a token for client credentials. */
  readonly issueToken: (request: { readonly scope: string; readonly resource: string }) => Promise<string>;
  readonly revoke: (token: string) => Promise<void>;
  /** Signs any claims with the provider's own key. */
  readonly signToken: (claims: Record<string, unknown>, header?: Record<string, unknown>) => Promise<string>;
  readonly publicKey: JWK;
  /** Replaces the signing key with a new one. */
  readonly rotate: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export const oidcClient = { clientId: "perch", clientSecret: "a-secret-of-the-client" };

const scopes = "read:agents write:agents delete:agents manage:agents";

const generateKey = async (kid: string) => {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  return {
    privateKey,
    jwk: { ...(await exportJWK(privateKey)), kid, alg: "RS256", use: "sig" },
    publicKey: { ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" } as JWK,
  };
};

/** A real OpenID provider on loopback. Resources that begin with `urn:opaque` get opaque tokens, others JWTs. */
export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  let key = await generateKey("first");
  let server: Server;

  const listen = async () => {
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: oidcClient.clientId,
          client_secret: oidcClient.clientSecret,
          grant_types: ["client_credentials"],
          response_types: [],
          redirect_uris: [],
        },
      ],
      jwks: { keys: [key.jwk] },
      scopes: scopes.split(" "),
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        introspection: { enabled: true, allowedPolicy: () => true },
        revocation: { enabled: true, allowedPolicy: () => true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_: unknown, resource: string) => ({
            scope: scopes,
            audience: resource,
            accessTokenTTL: 600,
            accessTokenFormat: resource.startsWith("urn:opaque") ? "opaque" : "jwt",
          }),
        },
      },
    });
    server = provider.listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  const stop = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  await listen();

  const post = async (path: string, fields: Record<string, string>): Promise<Record<string, unknown>> => {
    const basic = Buffer.from(`${oidcClient.clientId}:${oidcClient.clientSecret}`).toString("base64");
    const response = await fetch(issuer + path, {
      method: "POST",
      headers: { authorization: `Basic ${basic}`, "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${text}`);
    return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
  };

  return {
    issuer,
    issueToken: async ({ scope, resource }) =>
      String((await post("/token", { grant_type: "client_credentials", scope, resource })).access_token),
    revoke: async (token) => void (await post("/token/revocation", { token })),
    signToken: (claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "RS256", kid: "first", ...header })
        .sign(key.privateKey, { crit: { x: true } }),
    get publicKey() {
      return key.publicKey;
    },
    rotate: async () => {
      await stop();
      key = await generateKey("second");
      await listen();
    },
    stop,
  };
}
