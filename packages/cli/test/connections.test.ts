import { type BrowserJar, createBrowserJar } from "@perch/testkit/browsers/browser-jar.ts";
import { walkConsent } from "@perch/testkit/browsers/consent-walk.ts";
import { type AccountProvider, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { type OAuthMcpServer, startOAuthMcpServer } from "@perch/testkit/servers/oauth-mcp-server.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { type Desk, newDesk, removeDesks } from "./using-perch.ts";

const publicUrl = "https://perch.example";
const server = usePerch(
  { publicUrl, outboundAllowedPrivateRanges: ["127.0.0.0/8"], valkeyUrl: serviceUrl("PERCH_VALKEY_URL") },
  { withWorker: true },
);
removeDesks();

const returnUrl = "https://app.example/connected";
let provider: AccountProvider;
let mailbox: OAuthMcpServer;
let desk: Desk;

beforeAll(async () => {
  provider = await startAccountProvider({ perch: [publicUrl] });
  mailbox = await startOAuthMcpServer(provider);
});
afterAll(async () => {
  await mailbox?.close();
  await provider?.stop();
});
beforeEach(async () => {
  desk = await newDesk(server());
  const steps = [{ tool_calls: [{ name: "mailbox_whoami", arguments: {} }] }, { reply: "Done." }];
  const connection = { account: "user" as const, return_urls: [returnUrl, `${returnUrl}?from=cli`] };
  const tools = [{ type: "mcp" as const, name: "mailbox", url: mailbox.url, connection }];
  const body = { name: "bot", model: "perch/script", instructions: JSON.stringify({ steps }), tools };
  expect((await desk.organisation.call("POST /v1/agents", { body })).status).toBe(201);
});

/** A browser that finds the node by the public address. */
function openBrowser(): BrowserJar {
  const jar = createBrowserJar();
  return { ...jar, request: (url, init) => jar.request(url.replace(publicUrl, server().url), init) };
}

/** Gets a link, opens it as a browser does, and returns the parameters of the browser's return. */
async function consent(user: string, ...options: string[]): Promise<URL> {
  const { code, stdout, stderr } = await desk.perch(["connections", "create", "bot", "mailbox", user, ...options]);
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/^Link for \S+ and mailbox \(conn_\w+(?:, now \w+)?\)\. It works once, until .* UTC:\n$/);
  expect(stdout).toMatch(/^https:\/\/perch\.example\/connect\/\S+\n$/);
  return new URL(await walkConsent(openBrowser(), stdout.trim(), { login: user }));
}

const confirm = (returned: URL, user: string) => {
  const [id = "", code = ""] = [returned.searchParams.get("connection_id"), returned.searchParams.get("code")].map(
    (value) => value ?? "",
  );
  return desk.perch(["connections", "confirm", "bot", id, user, code]);
};

describe("perch connections", () => {
  test("from the link to a revoked account: create, confirm, list, show, revoke", async () => {
    expect((await desk.perch(["connections", "list", "bot"])).stderr).toContain(
      "perch connections create bot TOOL USER",
    );
    const returned = await consent("ada");
    const id = returned.searchParams.get("connection_id") ?? "";
    const confirmed = await confirm(returned, "ada");
    expect([confirmed.code, confirmed.stdout], confirmed.stderr).toEqual([0, `${id} is active.\n`]);
    expect((await desk.perch(["invoke", "bot", "Hello", "--user", "ada"])).code).toBe(0);
    expect(mailbox.calls.splice(0).map(({ user }) => user)).toEqual(["ada"]);
    expect((await desk.perch(["connections", "list", "bot", "--user", "ada"])).stdout).toMatch(
      new RegExp(`^CONNECTION .*\n${id} +active +mailbox +ada `),
    );
    const shown = (await desk.perch(["connections", "show", "bot", id])).stdout;
    for (const part of [`${id}  active`, `sent to      ${mailbox.url}`, `issued by    ${provider.issuer}`])
      expect(shown).toContain(part);
    expect((await desk.perch(["connections", "revoke", "bot", id])).stderr).toContain("Give --yes");
    const revoked = await desk.perch(["connections", "revoke", "bot", id, "--yes"]);
    expect(revoked.stdout).toBe(`${id} is revoked. The provider has revoked it, too.\n`);
    const json = (await desk.perch(["connections", "show", "bot", id, "--json"])).json<{ status: string }>();
    expect(json.status).toBe("revoked");
  });

  test("lists page by page, and names the command for the next one", async () => {
    for (const user of ["ada", "bob's"]) await consent(user);
    const first = await desk.perch(["connections", "list", "bot", "--limit", "1", "--status", "pending"]);
    expect(first.stdout).toContain("bob's");
    const [, cursor = ""] = /--status pending --limit 1 --cursor (\S+)/.exec(first.stderr) ?? [];
    const next = await desk.perch(["connections", "list", "bot", "--limit", "1", "--cursor", cursor, "--json"]);
    expect(next.json<{ data: { user_id: string }[] }>().data.map(({ user_id }) => user_id)).toEqual(["ada"]);
    expect((await desk.perch(["connections", "list", "bot", "--status", "revoked"])).stderr).toContain(
      "No connections",
    );
  });

  test("confirming for another user is refused, and the right one cannot repair it", async () => {
    const returned = await consent("ada");
    for (const user of ["mallory", "ada"]) {
      const refused = await confirm(returned, user);
      expect([refused.code, refused.stdout]).toEqual([1, ""]);
    }
  });

  test("the browser comes back to the address that was chosen, and to no other", async () => {
    const chosen = await consent("ada", "--return-url", `${returnUrl}?from=cli`);
    expect(chosen.searchParams.get("from")).toBe("cli");
    const other = ["connections", "create", "bot", "mailbox", "ada", "--return-url", "https://evil.example/"];
    expect((await desk.perch(other)).code).toBe(1);
  });

  test("an account that needs a new consent shows why, and with which command", async () => {
    const returned = await consent("o'hara");
    await confirm(returned, "o'hara");
    provider.revokeGrants("o'hara");
    const { stdout } = await desk.perch(["invoke", "bot", "Hello", "--user", "o'hara"]);
    expect(stdout).toContain("Done.");
    const id = returned.searchParams.get("connection_id") ?? "";
    const shown = await desk.perch(["connections", "show", "bot", id]);
    expect(shown.stdout).toMatch(/^conn_\w+ {2}needs_reauth\n {2}why {10}\S/);
    expect(shown.stderr).toContain(`perch connections create bot mailbox 'o'\\''hara'`);
    expect((await desk.perch(["connections", "list", "bot"])).stdout).toContain(" needs_reauth ");
    const link = await desk.perch(["connections", "create", "bot", "mailbox", "o'hara"]);
    expect(link.stderr).toContain(`Link for o'hara and mailbox (${id}, now needs_reauth).`);
  });

  test("for an unknown name, the command lists those that exist", async () => {
    const missing = await desk.perch(["connections", "show", "bot", "conn_01h455vb4pex5vsknk084sn02q"]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("`perch connections list bot`")]);
    expect((await desk.perch(["connections", "create", "bot", "nothing", "ada"])).code).toBe(1);
    expect((await desk.perch(["connections", "create", "bot", "mailbox"])).code).toBe(2);
  });
});
