import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Client } from "../auth/client.ts";
import { consentCookie, sentConsentCookie } from "../auth/connection-token.ts";
import { ApiError } from "../platform/api-error.ts";
import type { ConsentByLink, IsAdmittedTo } from "../resources/connections/consent-by-link.ts";
import { consentPaths, findClientDocument } from "../resources/connections/consent-paths.ts";
import type { Admission } from "./admission.ts";
import { browserFacts } from "./browser.ts";
import { connectPage, invalidConsentPage } from "./connect-page.ts";
import type { Guard } from "./guard.ts";
import { leavingFormPolicy, sendPage } from "./person-page.ts";

interface ConnectRoutesOptions {
  readonly consentByLink: ConsentByLink;
  readonly admission: Pick<Admission, "admitUnauthenticated">;
  readonly guard: Pick<Guard, "admitsConsent">;
  readonly publicUrl: string;
}

/** Our own form sends nothing. */
const maxFormBytes = 1024;

const refuse = (reply: FastifyReply): FastifyReply =>
  sendPage(reply, { status: 404, page: invalidConsentPage, policy: leavingFormPolicy });

/** The path and the query, exactly as they were asked for. */
function splitUrl({ url }: FastifyRequest): { readonly path: string; readonly query: string } {
  const end = url.indexOf("?");
  return end < 0 ? { path: url, query: "" } : { path: url.slice(0, end), query: url.slice(end + 1) };
}

/** Browsers set the header themselves; old ones do not. Only the person at the page can press its button. */
const isFromOtherPage = (request: FastifyRequest): boolean => {
  const { fetchSite = "same-origin" } = browserFacts(request);
  return fetchSite !== "same-origin";
};

/**
 * Pages of a consent. `/connect/{token}` shows where a browser is about to go, and its button uses the link up.
 * Providers send browsers back to `/oauth/callback/{organisation}/{issuer}`: each has its own address, and
 * `/oauth/clients/{organisation}/{issuer}` describes this client to it. Every invalid request gets the same page.
 */
export function connectRoutes(
  app: FastifyInstance,
  { consentByLink, admission, guard, publicUrl }: ConnectRoutesOptions,
  clientOf: (request: FastifyRequest) => Client,
): void {
  // Links and callbacks begin with the public address, so the browser is there, whatever a proxy makes of it.
  const isHttps = publicUrl.startsWith("https:");
  const admitsTo =
    (request: FastifyRequest): IsAdmittedTo =>
    (agent) =>
      guard.admitsConsent(clientOf(request), agent);
  const tokenOf = (request: FastifyRequest): string => (request.params as { "*": string })["*"];

  const show = async (request: FastifyRequest, reply: FastifyReply) => {
    const shown = await consentByLink.find(tokenOf(request), admitsTo(request));
    if (!shown) return refuse(reply);
    return sendPage(reply, { status: 200, page: connectPage(shown), policy: leavingFormPolicy });
  };

  const open = async (request: FastifyRequest, reply: FastifyReply) => {
    if (isFromOtherPage(request)) return refuse(reply);
    const opened = await consentByLink.open(tokenOf(request), admitsTo(request));
    if (!opened) return refuse(reply);
    const cookie = consentCookie(opened.connectionId, opened.browserSecret, isHttps);
    return reply.header("set-cookie", cookie).redirect(opened.url, 303);
  };

  const handleCallback = async (request: FastifyRequest, reply: FastifyReply) => {
    const { path, query } = splitUrl(request);
    const cookies = request.headers.cookie ?? "";
    const returned = await consentByLink.handleCallback({
      address: publicUrl + path,
      parameters: new URLSearchParams(query),
      browserSecretFor: (connectionId) => sentConsentCookie(cookies, connectionId, isHttps),
      isAdmittedTo: admitsTo(request),
    });
    if (!returned) return refuse(reply);
    return reply
      .header("set-cookie", consentCookie(returned.connectionId, undefined, isHttps))
      .redirect(returned.url, 303);
  };

  void app.register(async (pages) => {
    pages.removeAllContentTypeParsers();
    pages.addContentTypeParser("*", { parseAs: "string", bodyLimit: maxFormBytes }, (_, body, done) =>
      done(null, body),
    );
    pages.all(`${consentPaths.connect}*`, async (request, reply) => {
      await admission.admitUnauthenticated(request.ip);
      if (request.method === "GET" || request.method === "HEAD") return show(request, reply);
      return request.method === "POST" ? open(request, reply) : refuse(reply);
    });
    pages.all(`${consentPaths.callback}*`, async (request, reply) => {
      await admission.admitUnauthenticated(request.ip);
      return request.method === "GET" ? handleCallback(request, reply) : refuse(reply);
    });
  });

  app.get(`${consentPaths.clients}*`, async (request, reply) => {
    await admission.admitUnauthenticated(request.ip);
    const document = findClientDocument(publicUrl, splitUrl(request).path);
    if (!document) throw new ApiError("not_found", "There is no client of an authorization server at this address.");
    return reply.header("cache-control", "max-age=300").send(document);
  });
}
