import { verifies } from "@perch/testkit/verifies.ts";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { requestPage } from "../../test/support/approval-links.ts";
import { outboundAllowedPrivateRanges, useConsentTestbed } from "../../test/support/consent-testbed.ts";
import {
  type BrowserAnswer,
  connectedTool,
  createLink,
  openBrowser,
  publicUrl,
  readConnection,
  returnUrl,
} from "../../test/support/consents.ts";
import { ok } from "../../test/support/contract-client.ts";
import { startPerch } from "../../test/support/harness.ts";
import { parsePublicId } from "../platform/ids.ts";

const testbed = useConsentTestbed();

const openConnectBrowser = () => openBrowser(testbed().perch);
const createLinkOfAda = () => createLink(testbed().organisation, { user_id: "ada" });
const exchanges = () => testbed().provider.requests.filter((request) => request === "POST /token").length;

/** Leaves out the parts that always differ between two requests. */
const contentsOf = ({ status, headers, body }: BrowserAnswer) => {
  const { date: _, "x-correlation-id": __, ...rest } = Object.fromEntries(headers);
  return { status, headers: rest, body };
};

/** The one page of everything that is not valid, byte by byte. */
async function expectNotValid(answer: BrowserAnswer): Promise<void> {
  const expected = await openConnectBrowser().request(`${publicUrl}/connect/${"A".repeat(128)}`);
  expect(expected).toMatchObject({ status: 404, body: expect.stringContaining("This link is not valid") });
  expect(contentsOf(answer)).toEqual(contentsOf(expected));
}

/** As if that much time had passed. */
const ageLink = (minutes: number) => {
  const { perch, organisation } = testbed();
  return perch.server.core.db.inOrganisation(parsePublicId("organisation", organisation.id) ?? "", (trx) =>
    trx
      .updateTable("connection_links")
      .set({ expires_at: sql`expires_at - make_interval(mins => ${minutes})` })
      .execute(),
  );
};

/** A browser at the provider, whose consent leads to `callback`. */
async function consentAsAda(decision: "allow" | "deny" = "allow") {
  const connection = await createLinkOfAda();
  const browser = openConnectBrowser();
  const { location } = await browser.press(connection.link);
  const callback = new URL(await browser.consent(location, "ada", decision));
  return { connection, browser, callback };
}

describe("GET /connect/{token}", () => {
  test("shows the agent and the browser's next host, and changes nothing however often it is opened", async () => {
    verifies("connections.link");
    const { provider } = testbed();
    const { link } = await createLinkOfAda();
    const page = await openConnectBrowser().request(link);
    expect(page.status).toBe(200);
    for (const shown of ["bot", "mail", new URL(provider.issuer).host, new URL(testbed().mail.url).host, "app.example"])
      expect(page.body).toContain(shown);
    const head = await requestPage(testbed().perch, new URL(link).pathname, { method: "HEAD" });
    expect(head).toMatchObject({ status: 200, body: "" });
    expect((await openConnectBrowser().request(link)).status).toBe(200);
  });

  test("no script, frame or image runs on the page, and its form may lead to the provider", async () => {
    const { link } = await createLinkOfAda();
    const { headers, body } = await openConnectBrowser().request(link);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("form-action");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("set-cookie")).toBeNull();
    expect(body).not.toMatch(/<script|<img|<iframe|\son\w+=/i);
  });
});

describe("POST /connect/{token}", () => {
  test("sends the browser to the provider with PKCE, once", async () => {
    verifies("connections.link");
    const { organisation, provider } = testbed();
    const { link } = await createLinkOfAda();
    const browser = openConnectBrowser();
    const { status, location } = await browser.press(link);
    expect(status).toBe(303);
    const { origin, searchParams } = new URL(location);
    expect(origin).toBe(provider.issuer);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      redirect_uri: `${publicUrl}/oauth/callback/${organisation.id}/http:${new URL(provider.issuer).host}`,
    });
    expect(location).not.toContain(link.slice(-128));
    await expectNotValid(await browser.press(link));
    await expectNotValid(await openConnectBrowser().request(link));
  });

  test("its cookie is only for this host and HTTPS, and no script can read it", async () => {
    const browser = openConnectBrowser();
    const { headers } = await browser.press((await createLinkOfAda()).link);
    expect(headers.get("set-cookie")).toMatch(
      /^__Host-perch_connect_[0-9a-f-]{36}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/,
    );
  });

  test("of two presses at the same time one counts", async () => {
    const { link } = await createLinkOfAda();
    const pressed = await Promise.all(Array.from({ length: 4 }, () => openConnectBrowser().press(link)));
    expect(pressed.map(({ status }) => status).sort()).toEqual([303, 404, 404, 404]);
  });

  test("404 if a page of another site presses the button", async () => {
    const { link } = await createLinkOfAda();
    for (const site of ["cross-site", "same-site", "none"]) {
      const headers = { "sec-fetch-site": site, "content-type": "application/x-www-form-urlencoded" };
      await expectNotValid(await openConnectBrowser().request(link, { method: "POST", headers, body: "" }));
    }
    const headers = { "sec-fetch-site": "same-origin" };
    expect((await openConnectBrowser().request(link, { method: "POST", headers })).status).toBe(303);
  });

  test("404 for a link that has expired, was replaced, was forged, or is of a deleted agent", async () => {
    const { organisation } = testbed();
    const browser = openConnectBrowser();
    const first = await createLinkOfAda();
    const second = await createLinkOfAda();
    await expectNotValid(await browser.press(first.link));
    const forged = `${second.link.slice(0, -1)}${second.link.endsWith("A") ? "B" : "A"}`;
    for (const link of [forged, `${second.link}/`, `${second.link}%41`, `${publicUrl}/connect/`])
      await expectNotValid(await browser.press(link));
    await ageLink(10);
    await expectNotValid(await browser.press(second.link));
    const third = await createLinkOfAda();
    ok(await organisation.call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
    await expectNotValid(await browser.request(third.link));
    await expectNotValid(await browser.press(third.link));
  });

  test.each(["PUT", "DELETE", "PATCH", "OPTIONS"])("404 for %s", async (method) => {
    const { link } = await createLinkOfAda();
    await expectNotValid(await openConnectBrowser().request(link, { method }));
  });
});

describe("GET /oauth/callback/{organisation}/{issuer}", () => {
  test("hands the application a code, fetches no token, and forgets the cookie", async () => {
    verifies("connections.callback");
    const before = exchanges();
    const { connection, browser, callback } = await consentAsAda();
    const answer = await browser.request(callback.href);
    expect(answer.status).toBe(303);
    const returned = new URL(answer.location);
    expect(returned.origin + returned.pathname).toBe(returnUrl);
    expect([...returned.searchParams.keys()]).toEqual(["connection_id", "code"]);
    expect(returned.searchParams.get("connection_id")).toBe(connection.id);
    expect(returned.searchParams.get("code")).toMatch(/^pcc_[\w-]{43}$/);
    expect(returned.searchParams.get("code")).not.toBe(callback.searchParams.get("code"));
    expect(answer.headers.get("set-cookie")).toContain("Max-Age=0");
    expect(exchanges()).toBe(before);
    await expectNotValid(await browser.request(callback.href));
  });

  test("404 in another browser, and the right one can still finish", async () => {
    verifies("connections.callback");
    const [without, withOther, withEarlier] = [openConnectBrowser(), openConnectBrowser(), openConnectBrowser()];
    await withOther.press((await createLink(testbed().organisation, { user_id: "eve" })).link);
    // Its cookie has the same name, and the value of a link that was replaced.
    await withEarlier.press((await createLinkOfAda()).link);
    const { browser, callback } = await consentAsAda();
    for (const other of [without, withOther, withEarlier]) await expectNotValid(await other.request(callback.href));
    expect((await browser.request(callback.href)).status).toBe(303);
  });

  test("404 at the address of another provider, with another state, or none, or two", async () => {
    verifies("connections.callback");
    const { organisation, foreign } = testbed();
    const { browser, callback } = await consentAsAda();
    const change = (edit: (url: URL) => void): string => {
      const changed = new URL(callback);
      edit(changed);
      return changed.href;
    };
    const state = callback.searchParams.get("state") ?? "";
    for (const href of [
      change((url) => (url.pathname = `/oauth/callback/${organisation.id}/other.example`)),
      change((url) => (url.pathname = url.pathname.replace(organisation.id, foreign.id))),
      change((url) => (url.pathname += "/")),
      change((url) => (url.pathname = url.pathname.toUpperCase().replace("/OAUTH/CALLBACK", "/oauth/callback"))),
      change((url) => url.searchParams.set("state", `${state.slice(0, -1)}${state.endsWith("A") ? "B" : "A"}`)),
      change((url) => url.searchParams.delete("state")),
      change((url) => url.searchParams.append("state", state)),
    ])
      await expectNotValid(await browser.request(href));
    for (const method of ["POST", "HEAD"]) expect((await browser.request(callback.href, { method })).status).toBe(404);
    expect((await browser.request(callback.href)).status).toBe(303);
  });

  test("404 after ten minutes at the provider", async () => {
    const { browser, callback } = await consentAsAda();
    await ageLink(10);
    await expectNotValid(await browser.request(callback.href));
  });

  test("`error=access_denied` if the person said no, without the provider's words, and the link is over", async () => {
    const { organisation } = testbed();
    const { connection, browser, callback } = await consentAsAda("deny");
    const { location } = await browser.request(callback.href);
    expect(location).toBe(`${returnUrl}?connection_id=${connection.id}&error=access_denied`);
    await expectNotValid(await browser.request(callback.href));
    expect(await readConnection(organisation, connection.id)).toMatchObject({ status: "pending" });
  });

  test("`error=server_error` for another issuer than the one that was asked, and the link is over", async () => {
    verifies("connections.callback");
    const { connection, browser, callback } = await consentAsAda();
    const original = callback.href;
    callback.searchParams.set("iss", "https://evil.example");
    const { location } = await browser.request(callback.href);
    expect(location).toBe(`${returnUrl}?connection_id=${connection.id}&error=server_error`);
    await expectNotValid(await browser.request(original));
  });
});

describe("GET /oauth/clients/{organisation}/{issuer}", () => {
  const read = (path: string) => requestPage(testbed().perch, `/oauth/clients/${path}`);

  test("names to a provider the one address that it may send browsers to", async () => {
    const { id } = testbed().organisation;
    const answer = await read(`${id}/login.example/tenant`);
    expect(answer.status).toBe(200);
    expect(answer.headers["cache-control"]).toBe("max-age=300");
    expect(answer.headers["content-type"]).toContain("application/json");
    expect(JSON.parse(answer.body)).toMatchObject({
      client_id: `${publicUrl}/oauth/clients/${id}/login.example/tenant`,
      redirect_uris: [`${publicUrl}/oauth/callback/${id}/login.example/tenant`],
      token_endpoint_auth_method: "none",
    });
  });

  test.each(["", "LOGIN.example", "login.example/a/../b", "user@login.example", "login.example/%2e%2e/b", "a b"])(
    "404 for %j, which does not name an issuer",
    async (issuer) => {
      const path = `${testbed().organisation.id}/${issuer}`;
      expect((await read(encodeURI(path).replaceAll("%25", "%"))).status).toBe(404);
    },
  );

  test.each([
    "login.example",
    "org_/login.example",
    "org_0123/login.example",
    "agent_01arz3ndektsv4rrffq69g5fav/login.example",
  ])("404 for %j, which does not name an organisation", async (path) => expect((await read(path)).status).toBe(404));
});

test("a node without the console serves consents too, and addresses that the agent refuses get the page of no link", async () => {
  const { mail, provider } = testbed();
  const perch = await startPerch({ publicUrl, outboundAllowedPrivateRanges, console: false });
  try {
    const organisation = await perch.createOrganisation();
    const tools = [connectedTool(mail.url, provider.issuer)];
    const security = { ipWhitelist: { enabled: true, addresses: ["127.0.0.1"] } };
    const body = { name: "bot", model: "perch/script", tools, security };
    ok(await organisation.call("POST /v1/agents", { body } as never));
    const { link } = await createLink(organisation, { user_id: "ada" });
    const { pathname } = new URL(link);
    expect((await requestPage(perch, pathname, { from: "127.0.0.2" })).status).toBe(404);
    expect((await requestPage(perch, pathname, { from: "127.0.0.2", method: "POST" })).status).toBe(404);
    expect((await requestPage(perch, pathname)).status).toBe(200);
  } finally {
    await perch.stop();
  }
});
