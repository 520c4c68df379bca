import type { FastifyRequest } from "fastify";
import {
  type BrowserFacts,
  originOf,
  refuseOtherOrigins,
  refuseReadableCookies,
  sentSessionToken,
} from "../auth/browser-rules.ts";
import { sessionCookie } from "../auth/session-token.ts";
import type { Browser } from "../resources/handlers.ts";

const textOf = (header: string | string[] | undefined): string | undefined =>
  typeof header === "string" ? header : header?.[0];

/** `Host` as it was sent, because any client can send a header that names another host. */
export const browserFacts = ({ method, protocol, headers }: FastifyRequest): BrowserFacts => ({
  method,
  isHttps: protocol === "https",
  host: headers.host ?? "",
  cookie: headers.cookie,
  origin: headers.origin,
  fetchSite: textOf(headers["sec-fetch-site"]),
  csrfToken: textOf(headers["x-csrf-token"]),
});

const maxUserAgentLength = 256;

export function createBrowser(request: FastifyRequest, publicUrl: string | undefined): Browser {
  const facts = browserFacts(request);
  return {
    requireSafeSignIn: () => {
      refuseOtherOrigins(facts, publicUrl);
      refuseReadableCookies(facts, publicUrl);
    },
    sessionToken: () => {
      try {
        return sentSessionToken(facts);
      } catch {
        return undefined;
      }
    },
    cookie: (token) => sessionCookie(token, facts.isHttps),
    origin: publicUrl ?? originOf(facts),
    userAgent: request.headers["user-agent"]?.slice(0, maxUserAgentLength) ?? null,
  };
}
