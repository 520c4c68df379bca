import * as oauth from "oauth4webapi";
import { isTransientStatus } from "../outbound-errors.ts";
import type { LimitedFetch } from "./limited-fetch.ts";
import { authMethods, type OAuthRegistration, type TokenEndpointAuth } from "./oauth-client.ts";
import { answeredStatus, OAuthFailure, protocolWord, subjectOf, toCallFailure } from "./oauth-failure.ts";
import { clientMetadata } from "./redirect-address.ts";
import { isInsecure, parseLinkedAddress } from "./secure-address.ts";

export type DynamicRegistration = Extract<OAuthRegistration, { readonly kind: "registered" }>;

const isAuthMethod = (method: unknown): method is TokenEndpointAuth => authMethods.some((known) => known === method);

/**
 * How a client with a secret, or a new one, presents itself. Servers that do not announce a method take the header (RFC
 * 8414).
 */
export function chooseAuthMethod(
  { token_endpoint_auth_methods_supported: offered = ["client_secret_basic"] }: oauth.AuthorizationServer,
  hasSecret: boolean,
): TokenEndpointAuth {
  const wanted = hasSecret ? authMethods.slice(1) : authMethods;
  return wanted.find((method) => offered.includes(method)) ?? "client_secret_basic";
}

/**
 * New consents get a new registration after this, whatever the server announces: many forget their clients, and report
 * it only to the browser. Connections keep the one that they were made with.
 */
const maxUseMs = 24 * 60 * 60_000;

const printable = /^[\x20-\x7e]{1,1024}$/;

export const registerByHand = (redirectUri: string): string =>
  `Register a client there with the redirect address ${redirectUri}, and name it as \`client_id\` in the tool's \`connection\`.`;

function toRegistration(
  answer: oauth.OmitSymbolProperties<oauth.Client>,
  asked: string,
  nowMs: number,
  fail: () => OAuthFailure,
): DynamicRegistration {
  const { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method } = answer;
  // RFC 7591: without a word about it, a client with a secret presents it in the header.
  const authMethod = token_endpoint_auth_method ?? (client_secret === undefined ? asked : "client_secret_basic");
  if (!isAuthMethod(authMethod) || !printable.test(client_id)) throw fail();
  if (authMethod !== "none" && !(typeof client_secret === "string" && printable.test(client_secret))) throw fail();
  const secretEndsAtMs = Number(client_secret_expires_at ?? 0) * 1000;
  return {
    kind: "registered",
    clientId: client_id,
    ...(authMethod !== "none" && typeof client_secret === "string" && { clientSecret: client_secret }),
    authMethod,
    expiresAtMs: Math.min(nowMs + maxUseMs, secretEndsAtMs > 0 ? secretEndsAtMs : Infinity),
  };
}

/** As the library wants it: servers also answer 200, and leave out when a secret ends. */
async function toConformAnswer(response: Response): Promise<Response> {
  if (response.status !== 200 && response.status !== 201) return response;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  if (body === undefined) return response;
  const defaults = { client_secret_expires_at: 0 };
  return Response.json(typeof body === "object" ? { ...defaults, ...body } : body, { status: 201 });
}

/** Such as 404, or a redirect. */
const isRefusedWithoutWord = (error: unknown): boolean =>
  error instanceof oauth.OperationProcessingError && error.cause instanceof Response && error.cause.status >= 300;

interface RegisterDeps {
  readonly limitedFetch: LimitedFetch;
  readonly publicUrl: string;
  readonly now: () => number;
}

/** Dynamic registration (RFC 7591). Everything that it throws is an `OAuthFailure` or a `RefusedAddressError`. */
export async function registerClient(
  { limitedFetch, publicUrl, now }: RegisterDeps,
  server: oauth.AuthorizationServer,
  { redirectUri }: { readonly redirectUri: string },
): Promise<DynamicRegistration> {
  const { issuer, registration_endpoint } = server;
  const context = { subject: subjectOf(issuer), advice: registerByHand(redirectUri) };
  const asked = chooseAuthMethod(server, false);
  const notOffered = () =>
    new OAuthFailure("misconfigured", `${context.subject} does not register Perch as a client. ${context.advice}`);
  if (!parseLinkedAddress(registration_endpoint, issuer)) throw notOffered();
  const metadata = { ...clientMetadata(publicUrl, redirectUri), token_endpoint_auth_method: asked };
  try {
    const response = await oauth.dynamicClientRegistrationRequest(server, metadata, {
      [oauth.customFetch]: (url, request) => limitedFetch(url, request),
      [oauth.allowInsecureRequests]: isInsecure(issuer),
    });
    if (isTransientStatus(response.status)) throw answeredStatus(response.status, context.subject);
    const answer = await oauth.processDynamicClientRegistrationResponse(await toConformAnswer(response));
    return toRegistration(answer, asked, now(), notOffered);
  } catch (error) {
    if (error instanceof oauth.WWWAuthenticateChallengeError || isRefusedWithoutWord(error)) throw notOffered();
    if (error instanceof oauth.ResponseBodyError)
      throw new OAuthFailure(
        "misconfigured",
        `${context.subject} does not register Perch as a client: it answered ${error.status} ${protocolWord(error.error)}. ${context.advice}`,
      );
    throw toCallFailure(error, context);
  }
}
