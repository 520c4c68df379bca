import { ApiError, forbidden } from "../platform/api-error.ts";
import { cookieName, cookieValues, isCsrfToken, isSessionToken } from "./session-token.ts";

/** The headers of a request about its browser, and about the page that made the browser send it. */
export interface BrowserFacts {
  readonly method: string;
  readonly isHttps: boolean;
  /** The header `Host`: a name, and a port unless it is the usual one. */
  readonly host: string;
  readonly cookie: string | undefined;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
  readonly csrfToken: string | undefined;
}

const loopback = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d+)?$/i;
const isLoopback = (host: string): boolean => loopback.test(host);

/** The origin at which the browser reached this server. */
export const originOf = ({ isHttps, host }: Pick<BrowserFacts, "isHttps" | "host">): string =>
  `${isHttps ? "https" : "http"}://${host.toLowerCase()}`;

const isSafe = (method: string): boolean => method === "GET" || method === "HEAD";

/**
 * Refuses every request that a page of another origin makes. `none` is an address that the user typed. Browsers set
 * both headers themselves, and pages cannot change them.
 */
export function refuseOtherOrigins(facts: BrowserFacts, publicUrl: string | undefined): void {
  const { method, fetchSite, origin } = facts;
  const isOwnSite = fetchSite === undefined || fetchSite === "same-origin" || (fetchSite === "none" && isSafe(method));
  if (!isOwnSite)
    throw forbidden(
      "A page of another site made this request. Use the console at this server's own address; programs send an API key in `Authorization`.",
    );
  if (origin === undefined || origin === originOf(facts) || origin === publicUrl) return;
  throw forbidden(
    `A page of ${origin} made this request, and this server is ${originOf(facts)}. Use the console at this server's own address. If that is the address in your browser, the operator sets PERCH_PUBLIC_URL to it.`,
  );
}

/**
 * A session cookie over plain HTTP could be read on its way, except on the machine itself. A proxy that ends TLS and
 * rewrites `Host` looks like that machine, unless it is trusted. Then the page, or the operator, declares that the
 * browser used HTTPS.
 */
export function refuseReadableCookies(
  { isHttps, host, origin }: Pick<BrowserFacts, "isHttps" | "host" | "origin">,
  publicUrl: string | undefined,
): void {
  if (isHttps) return;
  if ((origin ?? publicUrl)?.startsWith("https:"))
    throw forbidden(
      "The browser used HTTPS, and this server was reached over plain HTTP: the session's cookie would not be kept to HTTPS. The operator names the proxy that ends TLS in PERCH_TRUSTED_PROXIES; it must send X-Forwarded-Proto.",
    );
  if (isLoopback(host)) return;
  throw forbidden(
    "Signing in needs HTTPS: over plain HTTP others could read the session. Put TLS in front of this server and name the proxy in PERCH_TRUSTED_PROXIES, or use http://127.0.0.1 on the server's own machine.",
  );
}

/**
 * The token in the session cookie; undefined if there is none. Over HTTPS, only the cookie that no other host can set
 * counts; over plain HTTP, only one from this machine. If there are two cookies of one name, another site set one of
 * them.
 */
export function sentSessionToken({ isHttps, host, cookie }: Pick<BrowserFacts, "isHttps" | "host" | "cookie">) {
  if (cookie === undefined || !(isHttps || isLoopback(host))) return undefined;
  const values = cookieValues(cookie, cookieName(isHttps));
  if (values.length === 0) return undefined;
  const [token = ""] = values;
  if (values.length === 1 && isSessionToken(token)) return token;
  throw new ApiError(
    "unauthorized",
    "The session cookie is not one that this server made. Delete the cookies of this site, then sign in again.",
  );
}

/** The token of a session that may make this request; undefined if there is no session cookie. */
export function requireOwnPage(facts: BrowserFacts, publicUrl: string | undefined): string | undefined {
  const token = sentSessionToken(facts);
  if (token === undefined) return undefined;
  refuseOtherOrigins(facts, publicUrl);
  if (isSafe(facts.method) || isCsrfToken(token, facts.csrfToken ?? "")) return token;
  throw forbidden(
    "A change with a session needs the header `X-CSRF-Token`, with the session's `csrf_token`: GET /v1/me shows it.",
  );
}

/** Host names are compared without their port. */
export const hostName = (host: string): string => host.replace(/:\d+$/, "").toLowerCase();
