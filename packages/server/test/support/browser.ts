import type { ErrorBody, Operations, ResponseOf } from "@perch/contract";
import { sendRawRequest } from "./raw-request.ts";

type Created = ResponseOf<Operations["POST /v1/console/sessions"]>["data"];
type Sent = Parameters<typeof sendRawRequest>[1];

/** A header that is undefined is left out. */
export interface PageRequest extends Omit<Sent, "headers" | "key"> {
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export interface PageAnswer {
  readonly status: number;
  readonly setCookie: string | undefined;
  readonly data: unknown;
  readonly error: ErrorBody["error"] | undefined;
}

/** Sends the requests of a browser for a page of this server. */
export async function sendFromPage(url: string, path: string, { headers = {}, ...request }: PageRequest = {}) {
  const isRead = (request.method ?? "GET") === "GET";
  const all = { "sec-fetch-site": "same-origin", ...(!isRead && { origin: new URL(url).origin }), ...headers };
  const given = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const answer = await sendRawRequest(url + path, { ...request, headers: Object.fromEntries(given) });
  const { data, error } = answer.body as { readonly data: unknown; readonly error?: ErrorBody["error"] };
  return { status: answer.status, setCookie: answer.headers["set-cookie"]?.[0], data, error } satisfies PageAnswer;
}

/** Requests of the console: with the cookie, and with the session's token if it is a change. */
export type SendInSession = (path: string, request?: PageRequest) => Promise<PageAnswer>;

export const createSendInSession =
  (url: string, cookie: string, csrfToken: string, shared: PageRequest = {}): SendInSession =>
  (path, { headers, ...sent } = {}) => {
    const isRead = (sent.method ?? "GET") === "GET";
    const own = { cookie, "x-csrf-token": isRead ? undefined : csrfToken };
    return sendFromPage(url, path, { ...shared, ...sent, headers: { ...shared.headers, ...own, ...headers } });
  };

export interface SignedIn {
  readonly session: Created;
  readonly setCookie: string;
  /** `name=token`, as the browser sends it. */
  readonly cookie: string;
  readonly send: SendInSession;
}

/** Signs in with an API key or a link. */
export async function signIn(
  url: string,
  body: { readonly api_key: string } | { readonly link: string },
  request: PageRequest = {},
): Promise<SignedIn> {
  const attempt = { ...request, method: "POST", body };
  const { status, data, error, setCookie = "" } = await sendFromPage(url, "/v1/console/sessions", attempt);
  if (status !== 201) throw new Error(`not signed in: ${JSON.stringify(error)}`);
  const [cookie = ""] = setCookie.split(";");
  const session = data as Created;
  return { session, setCookie, cookie, send: createSendInSession(url, cookie, session.csrf_token, request) };
}

/** The text after `#link=` in the address of a link. */
export const linkIn = (url: string): string => new URL(url).hash.replace("#link=", "");
