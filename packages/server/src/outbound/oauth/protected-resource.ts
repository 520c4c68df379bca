import { maxScopes, scopePattern } from "@perch/contract";
import { isTransientStatus } from "../outbound-errors.ts";
import { createDiscoveryCache, type DiscoveryCache } from "./cached-discovery.ts";
import type { LimitedFetch } from "./limited-fetch.ts";
import type { OAuthTool } from "./oauth-client.ts";
import { answeredStatus, type FailureContext, OAuthFailure, toCallFailure } from "./oauth-failure.ts";
import { parseLinkedAddress, parseSecureAddress } from "./secure-address.ts";

/** The metadata of a tool's server (RFC 9728). */
export interface ProtectedResource {
  readonly resource: string;
  readonly issuer: string;
  /** The scopes that it asks for; undefined if it names none. */
  readonly scopes: readonly string[] | undefined;
}

const advice = "Name its authorization server as `issuer` in the tool's `connection`, or ask those who run the tool.";
const contextOf = (address: string): FailureContext => ({
  subject: `The tool's server ${new URL(address).host}`,
  advice,
});

/**
 * The address without the parts that the model fills in, and without query and fragment. As it is written, because
 * servers compare letters.
 */
export function staticAddress(url: string): string {
  const [address = ""] = url.split(/[?#]/, 1);
  const template = address.indexOf("{");
  return template < 0 ? address : address.slice(0, address.lastIndexOf("/", template)).replace(/\/$/, "");
}

/** Whether a resource is the tool's address, or a prefix of its path that ends at a segment. */
export function coversAddress(resource: URL, address: URL): boolean {
  const path = resource.pathname.replace(/\/$/, "");
  const isPrefix = address.pathname.replace(/\/$/, "") === path || address.pathname.startsWith(`${path}/`);
  return resource.origin === address.origin && resource.search === "" && isPrefix;
}

const wellKnown = "/.well-known/oauth-protected-resource";

function wellKnownAddresses({ origin, pathname }: URL): string[] {
  const path = pathname.replace(/\/$/, "");
  return [...new Set([origin + wellKnown + path, origin + wellKnown])];
}

/** A parameter of a challenge such as `Bearer resource_metadata="https://…"`. */
const challengeParameter = (challenge: string, name: string): string | undefined => {
  const [, quoted, plain] =
    new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*(?:"([^"\\\\]*)"|([^\\s,"]+))`, "i").exec(challenge) ?? [];
  return quoted ?? plain;
};

const toScopes = (scopes: readonly unknown[]): string[] =>
  scopes.filter((scope): scope is string => typeof scope === "string" && scopePattern.test(scope)).slice(0, maxScopes);

type Metadata = Readonly<Record<string, unknown>>;

function toProtectedResource(metadata: Metadata, address: URL, asked: string | undefined): ProtectedResource {
  const { subject } = contextOf(address.href);
  const { resource, authorization_servers, scopes_supported, bearer_methods_supported } = metadata;
  const parsed = parseLinkedAddress(resource, address.href);
  if (!parsed || !coversAddress(parsed, address))
    throw new OAuthFailure("invalid", `${subject} has metadata of another address than the tool's. ${advice}`);
  const [issuer]: unknown[] = Array.isArray(authorization_servers) ? authorization_servers : [];
  if (!parseLinkedAddress(issuer, address.href))
    throw new OAuthFailure(
      "misconfigured",
      `${subject} names no authorization server with an https address. ${advice}`,
    );
  if (Array.isArray(bearer_methods_supported) && !bearer_methods_supported.includes("header"))
    throw new OAuthFailure(
      "misconfigured",
      `${subject} takes no tokens in the Authorization header, as Perch sends them.`,
    );
  const named = Array.isArray(scopes_supported) ? toScopes(scopes_supported) : undefined;
  const scopes = asked === undefined ? named : toScopes(asked.split(" "));
  return { resource: String(resource), issuer: String(issuer), scopes };
}

interface ProtectedResourceDeps {
  readonly limitedFetch: LimitedFetch;
  /** For the answer to a call without a token, whose body is not read. */
  readonly fetchHeaders: LimitedFetch;
  readonly now: () => number;
}

const mcpPing = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/**
 * Without a token, so that the server names its authorization server. Neither changes anything at a server that needs
 * no token.
 */
const probes = {
  mcp: {
    method: "POST",
    headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
    body: mcpPing,
  },
  http: { method: "HEAD", headers: { accept: "application/json" } },
} as const satisfies Record<OAuthTool["type"], object>;

export type FindProtectedResource = (tool: Pick<OAuthTool, "type" | "url">) => Promise<ProtectedResource>;

/** Everything that it throws is an `OAuthFailure` or a `RefusedAddressError`. */
export function createFindProtectedResource(deps: ProtectedResourceDeps): FindProtectedResource {
  const { limitedFetch, fetchHeaders, now } = deps;
  const readMetadata = async (address: string): Promise<Metadata | number> => {
    const response = await limitedFetch(address, { method: "GET", headers: { accept: "application/json" } });
    const body: unknown = response.status === 200 ? await response.json().catch(() => undefined) : undefined;
    return typeof body === "object" && body !== null && "resource" in body ? (body as Metadata) : response.status;
  };

  const discover = async (type: OAuthTool["type"], address: string): Promise<ProtectedResource> => {
    const url = parseSecureAddress(address);
    if (!url)
      throw new OAuthFailure(
        "misconfigured",
        "A tool with a `connection` needs an https address, because tokens are sent to it. Correct its `url`.",
      );
    const { status, headers } = await fetchHeaders(address, probes[type]);
    const challenge = status === 401 ? (headers.get("www-authenticate") ?? "") : "";
    const named = parseSecureAddress(challengeParameter(challenge, "resource_metadata"));
    const ownAddresses = named?.origin === url.origin ? [named.href] : [];
    let transient: number | undefined;
    for (const from of new Set([...ownAddresses, ...wellKnownAddresses(url)])) {
      const metadata = await readMetadata(from);
      if (typeof metadata === "object")
        return toProtectedResource(metadata, url, challengeParameter(challenge, "scope"));
      if (isTransientStatus(metadata)) transient ??= metadata;
    }
    if (transient !== undefined) throw answeredStatus(transient, contextOf(address).subject);
    throw new OAuthFailure(
      "misconfigured",
      `${contextOf(address).subject} does not say who issues its tokens (RFC 9728). ${advice}`,
    );
  };

  const cacheOf = (type: OAuthTool["type"]): DiscoveryCache<ProtectedResource> =>
    createDiscoveryCache({
      discover: (address) => discover(type, address),
      toFailure: (error, address) => toCallFailure(error, contextOf(address)),
      now,
    });
  const caches = { mcp: cacheOf("mcp"), http: cacheOf("http") };
  return async ({ type, url }) => {
    const address = staticAddress(url);
    return caches[type].findKnown(address) ?? (await caches[type].discover(address));
  };
}
