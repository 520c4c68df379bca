import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Provider } from "oidc-provider";
import type { BrowserJar } from "../browsers/browser-jar.ts";

const escapeHtml = (value: string) => value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

const page = (uid: string, title: string, content: string) => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title></head>
<body><h1>${title}</h1>
<form method="post" action="/interaction/${uid}">${content}</form></body></html>`;

const loginPage = (uid: string) =>
  page(
    uid,
    "Sign in",
    `<label>User name <input name="login" autofocus autocomplete="username"></label> <button>Continue</button>`,
  );

const consentPage = (uid: string, user: string, client: string) =>
  page(
    uid,
    "Allow access",
    `<p>${escapeHtml(client)} asks for access to the account of <b>${escapeHtml(user)}</b>.</p>
<button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button>`,
  );

/** Grants everything that was requested. */
async function saveGrant(provider: Provider, accountId: string, params: Readonly<Record<string, unknown>>) {
  const grant = new provider.Grant({ clientId: String(params.client_id), accountId });
  const scope = String(params.scope ?? "");
  if (scope !== "") grant.addOIDCScope(scope);
  for (const resource of [params.resource ?? []].flat()) grant.addResourceScope(String(resource), scope);
  return grant.save();
}

/** Asks for a user name (without a password), and then for consent. Unknown names become users. */
export async function handleInteraction(provider: Provider, request: IncomingMessage, response: ServerResponse) {
  const { uid, prompt, params, session } = await provider.interactionDetails(request, response);
  const form = request.method === "POST" ? new URLSearchParams(await text(request)) : undefined;
  const login = form?.get("login");
  const decision = form?.get("decision");
  if (prompt.name === "login" && login)
    return provider.interactionFinished(request, response, { login: { accountId: login } });
  if (prompt.name === "consent" && decision === "deny")
    return provider.interactionFinished(request, response, {
      error: "access_denied",
      error_description: "<b>The person said no.</b>",
    });
  if (prompt.name === "consent" && decision === "allow") {
    const grantId = await saveGrant(provider, session?.accountId ?? "", params);
    return provider.interactionFinished(request, response, { consent: { grantId } });
  }
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.end(
    prompt.name === "login" ? loginPage(uid) : consentPage(uid, session?.accountId ?? "", String(params.client_id)),
  );
}

export interface Consent {
  readonly login: string;
  readonly decision?: "allow" | "deny";
  /** Where the walk ends: the address is returned, not requested. */
  readonly until?: RegExp;
}

/**
 * Walks an account provider's pages as a person who signs in and then allows or denies access. `start` leads there, and may be a redirect.
 * Returns the address to which the browser is sent back.
 */
export async function consentAtProvider(
  jar: BrowserJar,
  start: string,
  { login, decision = "allow", until = /\/oauth\/callback\// }: Consent,
): Promise<string> {
  let { url, response } = await jar.follow(start, {}, until);
  for (let pages = 0; pages < 3 && !until.test(url); pages++) {
    const html = await response.text();
    const action = /<form method="post" action="(\/interaction\/[^"]+)"/.exec(html)?.[1];
    if (!action) throw new Error(`there is no form at ${url}: ${response.status} ${html.slice(0, 2000)}`);
    const fields: Record<string, string> = html.includes('name="login"') ? { login } : { decision };
    const form = { method: "POST", body: new URLSearchParams(fields) };
    ({ url, response } = await jar.follow(new URL(action, url).href, form, until));
  }
  await response.body?.cancel();
  if (!until.test(url)) throw new Error(`the provider did not send the browser back, but to ${url}`);
  return url;
}
