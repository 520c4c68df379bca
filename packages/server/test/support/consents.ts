import type { Connection, Operations, ResponseOf } from "@perch/contract";
import { type BrowserJar, createBrowserJar } from "@perch/testkit/browsers/browser-jar.ts";
import { accountClients } from "@perch/testkit/identity/account-provider.ts";
import { consentAtProvider } from "@perch/testkit/identity/account-provider-pages.ts";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

/** Not the address of the node: browsers of tests go to the node instead, and cookies are those of an https address. */
export const publicUrl = "https://perch.example";
export const returnUrl = "https://app.example/connected";

export type ConnectionWithLink = ResponseOf<Operations["POST /v1/agents/{agent_id}/connections"]>["data"];

/** A tool that is called with the user's account, at a provider at which Perch is a configured client. */
export const connectedTool = (url: string, issuer: string, changes: Readonly<Record<string, unknown>> = {}) => ({
  type: "http" as const,
  name: "mail",
  description: "Reads the user's mail.",
  method: "POST" as const,
  url,
  parameters: { type: "object" as const, properties: { note: { type: "string" } } },
  connection: {
    account: "user" as const,
    issuer,
    client_id: accountClients.public.clientId,
    scopes: ["mail.read", "offline_access"],
    resource: url,
    return_urls: [returnUrl],
    ...changes,
  },
});

export interface ConsentFor {
  readonly user_id: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly return_url?: string;
}

export const askForLink = ({ call }: Organisation, { user_id, agent = "bot", tool = "mail", return_url }: ConsentFor) =>
  call("POST /v1/agents/{agent_id}/connections", {
    params: { agent_id: agent },
    body: { user_id, tool, ...(return_url !== undefined && { return_url }) },
  });

export const createLink = async (organisation: Organisation, consent: ConsentFor): Promise<ConnectionWithLink> =>
  ok(await askForLink(organisation, consent)).data;

export const confirm = (
  { call }: Organisation,
  connection_id: string,
  body: { readonly user_id: string; readonly code: string },
  agent = "bot",
) =>
  call("POST /v1/agents/{agent_id}/connections/{connection_id}/confirm", {
    params: { agent_id: agent, connection_id },
    body,
  });

export const readConnection = async (
  { call }: Organisation,
  connection_id: string,
  agent = "bot",
): Promise<Connection> =>
  ok(
    await call("GET /v1/agents/{agent_id}/connections/{connection_id}", { params: { agent_id: agent, connection_id } }),
  ).data;

/** An answer as a browser sees it, before it follows a redirect. */
export interface BrowserAnswer {
  readonly status: number;
  /** The target of the redirect, or an empty text. */
  readonly location: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A browser with a cookie jar, of the user or of an attacker. */
export interface ConsentBrowser {
  readonly jar: BrowserJar;
  /** Requests an address of Perch at its node. Redirects are not followed. */
  readonly request: (url: string, init?: RequestInit) => Promise<BrowserAnswer>;
  /** Presses the button of the link's page, as a browser does it. */
  readonly press: (link: string) => Promise<BrowserAnswer>;
  /** Signs in at the provider as `login` and decides. Returns the address of Perch that the provider sends the browser to. */
  readonly consent: (authorizationUrl: string, login: string, decision?: "allow" | "deny") => Promise<string>;
}

export function openBrowser({ url: node }: { readonly url: string }): ConsentBrowser {
  const jar = createBrowserJar();
  const request: ConsentBrowser["request"] = async (url, init) => {
    const response = await jar.request(url.replace(publicUrl, node), init);
    const { status, headers } = response;
    return { status, headers, location: headers.get("location") ?? "", body: await response.text() };
  };
  return {
    jar,
    request,
    press: async (link) => {
      const page = await request(link);
      const fields = [...page.body.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      return request(link, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", origin: publicUrl },
        body: new URLSearchParams(fields.map(([, name = "", value = ""]): [string, string] => [name, value])),
      });
    },
    consent: (authorizationUrl, login, decision = "allow") =>
      consentAtProvider(jar, authorizationUrl, { login, decision }),
  };
}

export interface ConsentWalk {
  readonly connection: ConnectionWithLink;
  readonly browser: ConsentBrowser;
  /** With which the provider sent the browser back to Perch. */
  readonly callback: string;
  /** With which Perch sent the browser back to the application. */
  readonly returned: URL;
  readonly code: string;
}

/** From the link to the application's return address: `login` is the account that is chosen at the provider. */
export async function walkConsent(
  node: { readonly url: string },
  organisation: Organisation,
  { login, ...consent }: ConsentFor & { readonly login?: string },
  browser = openBrowser(node),
): Promise<ConsentWalk> {
  const connection = await createLink(organisation, consent);
  const { location } = await browser.press(connection.link);
  const callback = await browser.consent(location, login ?? consent.user_id);
  const answer = await browser.request(callback);
  if (!answer.location) throw new Error(`the browser was not sent back: ${answer.status} ${answer.body}`);
  const returned = new URL(answer.location);
  return { connection, browser, callback, returned, code: returned.searchParams.get("code") ?? "" };
}

/** The user's account is connected when it returns. */
export async function connect(
  node: { readonly url: string },
  organisation: Organisation,
  consent: ConsentFor & { readonly login?: string },
): Promise<Connection> {
  const { connection, code } = await walkConsent(node, organisation, consent);
  const { user_id, agent } = consent;
  return ok(await confirm(organisation, connection.id, { user_id, code }, agent)).data;
}
