import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type BrowserFacts, refuseReadableCookies } from "../auth/browser-rules.ts";
import { cookieValues } from "../auth/session-token.ts";
import { signInCookie, signInCookieName } from "../auth/sign-in-state.ts";
import { type PersonSignIn, SignInRefusal } from "../resources/console-sessions/sign-in-person.ts";
import type { Admission } from "./admission.ts";
import { browserFacts, createBrowser } from "./browser.ts";

interface SignInRoutesOptions {
  /** Undefined if people cannot sign in. */
  readonly people: PersonSignIn | undefined;
  readonly admission: Pick<Admission, "admitUnauthenticated">;
  readonly publicUrl: string | undefined;
}

/** One value of a query parameter; a parameter that is given twice counts as missing. */
const queryValue = ({ query }: FastifyRequest, name: string): string | undefined => {
  const value = (query as Record<string, unknown>)[name];
  return typeof value === "string" ? value : undefined;
};

/** The sign-in page explains the code. The exact reason is in the log. */
const refusePerson = (reply: FastifyReply, code: SignInRefusal["code"]) =>
  reply.redirect(`/console/sign-in?error=${code}`, 303);

/** Whether a link or a page of another site began the navigation. Browsers set the header themselves, and old ones do not. */
const isFromOtherSite = ({ fetchSite = "none" }: BrowserFacts): boolean =>
  fetchSite !== "none" && fetchSite !== "same-origin";

/**
 * The address to which the console sends a browser to sign a person in, and the one to which the issuer returns it.
 * Both are navigations, and answer with a redirect.
 */
export function signInRoutes(app: FastifyInstance, { people, admission, publicUrl }: SignInRoutesOptions): void {
  if (!people) return;

  const orSignInPage = async (reply: FastifyReply, work: () => Promise<unknown>) => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof SignInRefusal) return refusePerson(reply, error.code);
      throw error;
    }
  };

  app.get("/console/oidc/start", async (request, reply) => {
    await admission.admitUnauthenticated(request.ip);
    const facts = browserFacts(request);
    refuseReadableCookies(facts, publicUrl);
    // Only the person may begin a sign-in, because it replaces the browser's session.
    if (isFromOtherSite(facts)) return reply.redirect("/console/sign-in", 303);
    return orSignInPage(reply, async () => {
      const { url, sealedState } = await people.begin({
        correlationId: request.id,
        returnTo: queryValue(request, "return_to"),
        organisation: queryValue(request, "organisation"),
        sessionToken: createBrowser(request, publicUrl).sessionToken(),
      });
      return reply.header("set-cookie", signInCookie(sealedState, facts.isHttps)).redirect(url, 303);
    });
  });

  app.get("/console/oidc/callback", async (request, reply) => {
    await admission.admitUnauthenticated(request.ip);
    const facts = browserFacts(request);
    refuseReadableCookies(facts, publicUrl);
    // The state counts once, whatever comes of it.
    reply.header("set-cookie", signInCookie(undefined, facts.isHttps));
    const states = cookieValues(facts.cookie ?? "", signInCookieName(facts.isHttps));
    const browser = createBrowser(request, publicUrl);
    return orSignInPage(reply, async () => {
      const parameters = new URL(request.url, "http://perch.invalid").searchParams;
      // If there are two cookies of one name, another site set one of them.
      const state = states.length === 1 ? states[0] : undefined;
      const context = { correlationId: request.id, address: request.ip, browser };
      const { token, returnTo } = await people.finish(parameters, state, context);
      return reply.header("set-cookie", browser.cookie(token)).redirect(returnTo, 303);
    });
  });
}
