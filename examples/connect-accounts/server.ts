// A web application whose users connect their mailboxes with an agent:
// PERCH_URL=https://perch.example PERCH_API_KEY=perch_… APP_ORIGIN=https://app.example PORT=8806 \
//   node examples/connect-accounts/server.ts
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
// In a project of your own, import from "@perch/sdk".
import { type Connection, Perch, PerchError } from "../../packages/sdk/src/index.ts";
import { endSession, startSession, userOf } from "./session.ts";

const { PORT: port = "8806", AGENT: agent = "support", TOOL: tool = "mailbox" } = process.env;
/** The address by which browsers reach this application. `${origin}/connected` is among the tool's `return_urls`. */
const origin = process.env.APP_ORIGIN ?? `http://127.0.0.1:${port}`;
const perch = new Perch();

async function findConnection(user: string): Promise<Connection | undefined> {
  // Ignores a connection for an address that the tool had before, or has in another environment, because runs would not
  // use it.
  const query = { user_id: user, tool, environment: "production" };
  for await (const connection of perch.connections.list(agent, query)) return connection;
  return undefined;
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escapeHtml = (value: string): string => value.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? "");
const button = (path: string, label: string): string =>
  `<form method="post" action="${path}"><button>${label}</button></form>`;

/** `next`: the page that the browser asked for. */
const signInForm = (next: string): string =>
  `<form method="post" action="/sign-in"><input type="hidden" name="next" value="${escapeHtml(next)}">
<label>User name <input name="user" required></label> <button>Sign in</button></form>`;

/** The actions that a user has for the mailbox, by the state of the connection. */
function mailboxPart(connection: Connection | undefined): string {
  if (connection?.status === "active") return `<p>Your mailbox: Connected</p>${button("/disconnect", "Disconnect")}`;
  if (connection?.status === "needs_reauth")
    return `<p>Your mailbox no longer lets us in. Please reconnect it.</p>${button("/connect", "Reconnect your mailbox")}`;
  return button("/connect", "Connect your mailbox");
}

/** `notice` and `answer` are text, not HTML. */
async function homePage(user: string, { notice = "", answer = "" } = {}): Promise<string> {
  const said = notice && `<p role="status">${escapeHtml(notice)}</p>`;
  return `<p>Signed in as ${escapeHtml(user)}</p>${button("/sign-out", "Sign out")}
${said}${mailboxPart(await findConnection(user))}
<form method="post" action="/chat"><label>Message <input name="message" required></label> <button>Send</button></form>
${answer && `<blockquote>${escapeHtml(answer)}</blockquote>`}`;
}

function sendPage(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    // The button that connects leads to another site, so there is no form-action here.
    "content-security-policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    // The return page's address has a code, so no other site may get it. `no-referrer` would make browsers send
    // `Origin: null` with our own forms.
    "referrer-policy": "same-origin",
  });
  response.end(`<!doctype html><html lang="en"><title>Support</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<h1>Support</h1>\n${body}\n</html>\n`);
}

const redirect = (response: ServerResponse, location: string, headers: Record<string, string> = {}): void => {
  response.writeHead(303, { location, ...headers }).end();
};

const notices: Readonly<Record<string, string>> = {
  connected: "Your mailbox is connected.",
  denied: "You did not allow it, so nothing was connected.",
  failed: "That did not work. Please try again.",
};

/**
 * The browser has returned from the provider. The session shows which user's browser it is, because any site could have
 * made the address.
 */
async function confirm(user: string, query: URLSearchParams): Promise<string> {
  const [id, code] = [query.get("connection_id"), query.get("code")];
  if (query.get("error") === "access_denied") return "denied";
  if (!id || !code) return "failed";
  try {
    await perch.connections.confirm(agent, id, { user_id: user, code });
    return "connected";
  } catch (error) {
    // One case is a link that was given to another user. Perch refuses it, and nothing is connected.
    if (error instanceof PerchError && error.status !== undefined && error.status < 500) return "failed";
    throw error;
  }
}

async function chat(user: string, message: string): Promise<{ answer: string } | { notice: string }> {
  try {
    const { response } = await perch.agents.invoke(agent, { message, context: { user_id: user } });
    return { answer: response };
  } catch (error) {
    if (error instanceof PerchError) return { notice: error.shortMessage };
    throw error;
  }
}

async function handlePost(path: string, form: URLSearchParams, user: string | undefined, response: ServerResponse) {
  if (path === "/sign-in") {
    const [name, next] = [form.get("user")?.trim(), form.get("next") ?? ""];
    const headers = name ? { "set-cookie": startSession(name, origin) } : {};
    return redirect(response, next.startsWith("/connected?") ? next : "/", headers);
  }
  if (user === undefined) return redirect(response, "/");
  if (path === "/sign-out") return redirect(response, "/", { "set-cookie": endSession(origin) });
  if (path === "/chat")
    return sendPage(response, 200, await homePage(user, await chat(user, form.get("message") ?? "")));
  if (path === "/connect") {
    const { link } = await perch.connections.create(agent, { user_id: user, tool, return_url: `${origin}/connected` });
    return redirect(response, link);
  }
  if (path === "/disconnect") {
    const connection = await findConnection(user);
    if (connection) await perch.connections.revoke(agent, connection.id);
    return redirect(response, "/");
  }
  sendPage(response, 404, "<p>There is no such page.</p>");
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", origin);
  const user = userOf(request.headers.cookie);
  if (request.method === "POST") {
    // Browsers report which site sent a form. Forms of other sites change nothing here.
    if (request.headers.origin !== origin) return sendPage(response, 403, "<p>Use the forms of this page.</p>");
    return handlePost(pathname, new URLSearchParams(await text(request)), user, response);
  }
  if (pathname !== "/" && pathname !== "/connected") return sendPage(response, 404, "<p>There is no such page.</p>");
  // Without a session, the user to confirm for is unknown. The code is valid for two minutes, so the sign-in leads back
  // to this page.
  if (user === undefined) return sendPage(response, 200, signInForm(request.url ?? "/"));
  if (pathname === "/connected") return redirect(response, `/?notice=${await confirm(user, searchParams)}`);
  const notice = notices[searchParams.get("notice") ?? ""] ?? "";
  sendPage(response, 200, await homePage(user, { notice }));
}

const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    console.error(error);
    sendPage(response, 502, "<p>Something failed. Please try again later.</p>");
  });
});
server.listen(Number(port), "127.0.0.1", () => console.log(`Open ${origin}`));
