import type { ToolConnection } from "@perch/contract";
import type { SecretOwner } from "../secrets/find-secrets.ts";

/** A tool that is called with an OAuth account, as an agent's definition has it. */
export interface OAuthTool {
  readonly type: "mcp" | "http";
  readonly name: string;
  readonly url: string;
  readonly connection: ToolConnection;
}

/** The identity of Perch at an authorization server. */
export type OAuthRegistration =
  /** In the definition. `clientSecret` refers to a secret: `{{secret.name}}`. */
  | { readonly kind: "configured"; readonly clientId: string; readonly clientSecret?: string }
  /** The address of a document that Perch serves. */
  | { readonly kind: "document"; readonly clientId: string }
  /** Dynamically. `clientSecret` is the secret itself. */
  | {
      readonly kind: "registered";
      readonly clientId: string;
      readonly clientSecret?: string;
      readonly authMethod: TokenEndpointAuth;
      readonly expiresAtMs: number | null;
    };

/** Those that Perch has, the first that a server offers. */
export const authMethods = ["none", "client_secret_basic", "client_secret_post"] as const;
export type TokenEndpointAuth = (typeof authMethods)[number];

/** The scope for refresh tokens, if a server knows it. */
export const offlineAccess = "offline_access";

/**
 * An authorization server, with Perch's client and requests there. Plain JSON: it is sealed with the tokens, which are
 * never sent to another.
 */
export interface OAuthConfiguration {
  readonly issuer: string;
  readonly authorizationEndpoint: string | null;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string | null;
  /** Whether it identifies itself when it sends a browser back (RFC 9207). */
  readonly namesItself: boolean;
  readonly authMethod: TokenEndpointAuth;
  readonly client: OAuthRegistration;
  readonly redirectUri: string;
  /** The resource that the tokens are for (RFC 8707); null if it is not requested. */
  readonly resourceIndicator: string | null;
  readonly scopes: readonly string[];
}

export interface OAuthTokens {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  /** Null if the server does not report it. */
  readonly expiresAtMs: number | null;
  readonly scopes: readonly string[];
}

/** The input of a refresh. */
export interface GrantedTokens {
  readonly refreshToken: string;
  readonly scopes: readonly string[];
}

/** The secrets of a consent that are stored, sealed, until the browser comes back. */
export interface ConsentSecrets {
  readonly state: string;
  readonly codeVerifier: string;
}

/** Dynamic registrations of an agent, so that each server gets one. */
export interface Registrations {
  readonly find: (issuer: string, redirectUri: string) => Promise<OAuthRegistration | undefined>;
  readonly save: (issuer: string, redirectUri: string, registration: OAuthRegistration) => Promise<void>;
}

/**
 * The OAuth 2.1 client for tools. Every call goes through the guarded client, and everything that it throws is an `OAuthFailure`, a
 * `RefusedSecretError` or a `RefusedAddressError`.
 */
export interface OAuthClient {
  /** Finds the tool's authorization server and the client that Perch is there. */
  readonly discoverConfiguration: (
    owner: SecretOwner,
    tool: OAuthTool,
    options: { readonly registrations: Registrations; readonly signal: AbortSignal },
  ) => Promise<OAuthConfiguration>;
  /** The address to send the browser to. */
  readonly authorizationUrl: (configuration: OAuthConfiguration, secrets: ConsentSecrets) => Promise<URL>;
  readonly newConsentSecrets: (state: string) => ConsentSecrets;
  /**
   * Checks the parameters that a browser brought back: state, `iss`, errors. Throws unless it has a code that may be
   * exchanged.
   */
  readonly checkCallback: (configuration: OAuthConfiguration, parameters: URLSearchParams, state: string) => void;
  readonly exchangeCode: (
    owner: SecretOwner,
    configuration: OAuthConfiguration,
    callback: { readonly parameters: URLSearchParams; readonly secrets: ConsentSecrets },
    signal: AbortSignal,
  ) => Promise<OAuthTokens>;
  /**
   * A server that gives no new refresh token keeps the old one, and one that names no scopes keeps those that it granted.
   * A function is called just before the request is sent, and may throw.
   */
  readonly refresh: (
    owner: SecretOwner,
    configuration: OAuthConfiguration,
    previous: GrantedTokens,
    signal: AbortSignal | (() => AbortSignal),
  ) => Promise<OAuthTokens>;
  readonly clientCredentials: (
    owner: SecretOwner,
    configuration: OAuthConfiguration,
    signal: AbortSignal,
  ) => Promise<OAuthTokens>;
  readonly revoke: (
    owner: SecretOwner,
    configuration: OAuthConfiguration,
    tokens: Pick<OAuthTokens, "accessToken" | "refreshToken">,
    signal: AbortSignal,
  ) => Promise<"done" | "not_offered">;
}
