import { beforeEach, describe, expect, test } from "vitest";
import { requestPage } from "../support/approval-links.ts";
import { createAgent, useConsentTestbed } from "../support/consent-testbed.ts";
import {
  type BrowserAnswer,
  connectedTool,
  createLink,
  openBrowser,
  publicUrl,
  readConnection,
} from "../support/consents.ts";
import { ok } from "../support/contract-client.ts";

/** Attacks 15 to 24 of docs/security/connections.md: the link, its page and its button. */
const testbed = useConsentTestbed();

const link = async (user_id = "ada") => (await createLink(testbed().organisation, { user_id })).link;
const browser = () => openBrowser(testbed().perch);

/** Parts that differ between any two requests are left out. */
const contentsOf = ({ status, headers, body }: BrowserAnswer) => {
  const { date: _, "x-correlation-id": __, ...rest } = Object.fromEntries(headers);
  return { status, headers: rest, body };
};

let notValid: ReturnType<typeof contentsOf>;
beforeEach(async () => {
  notValid = contentsOf(await browser().request(`${publicUrl}/connect/${Buffer.alloc(96).toString("base64url")}`));
});

/** GET and POST give the one answer of all links that are not valid, byte by byte. */
async function expectNotValid(url: string): Promise<void> {
  expect(notValid.status).toBe(404);
  for (const init of [{}, { method: "POST", headers: { origin: publicUrl } }])
    expect(contentsOf(await browser().request(url, init))).toEqual(notValid);
}

const form = { "content-type": "application/x-www-form-urlencoded" };

describe("a link that is not valid gets one page, whatever is wrong with it:", () => {
  test("attack 15: forged: each letter changed, cut off, longer, encoded otherwise, with a path behind it", async () => {
    const url = await link();
    const token = url.slice(`${publicUrl}/connect/`.length);
    expect(token.length).toBeGreaterThan(60);
    for (let i = 0; i < token.length; i++) {
      const forged = token.slice(0, i) + (token[i] === "A" ? "B" : "A") + token.slice(i + 1);
      const answer = await browser().request(`${publicUrl}/connect/${forged}`);
      expect([i, contentsOf(answer)]).toEqual([i, notValid]);
    }
    const variants = [
      token.slice(0, -1),
      `${token}A`,
      `${token}%3D`,
      `${token}/`,
      `${token}%00`,
      token.toLowerCase(),
      "",
    ];
    for (const variant of variants) await expectNotValid(`${publicUrl}/connect/${variant}`);
    // The true one still works.
    expect((await browser().press(url)).status).toBe(303);
  });

  test("attack 16: opened twice: by two browsers, and ten at once", async () => {
    const used = await link();
    expect((await browser().press(used)).status).toBe(303);
    await expectNotValid(used);
    const raced = await link();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        browser().request(raced, { method: "POST", headers: { ...form, origin: publicUrl } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array<number>(9).fill(404)]);
  });

  test("attack 17: a link that a newer one has replaced, and one of a connection that was revoked", async () => {
    const { organisation } = testbed();
    const old = await createLink(organisation, { user_id: "ada" });
    const newer = await createLink(organisation, { user_id: "ada" });
    expect(newer.id).toBe(old.id);
    await expectNotValid(old.link);
    const params = { agent_id: "bot", connection_id: old.id };
    ok(await organisation.call("POST /v1/agents/{agent_id}/connections/{connection_id}/revoke", { params }));
    await expectNotValid(newer.link);
  });

  test("attack 18: a link of an agent that refuses this address, and of one that is deleted", async () => {
    const { organisation, perch } = testbed();
    const url = await link();
    const params = { agent_id: "bot" };
    const ipWhitelist = { enabled: true, addresses: ["127.0.0.1"] };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body: { security: { ipWhitelist } } }));
    const path = new URL(url).pathname;
    for (const method of ["GET", "POST"])
      expect((await requestPage(perch, path, { method, from: "127.0.0.2" })).status).toBe(404);
    expect((await requestPage(perch, path)).status).toBe(200);
    ok(await organisation.call("DELETE /v1/agents/{agent_id}", { params }));
    await expectNotValid(url);
  });
});

describe("the page and its button", () => {
  test.each(["GET", "HEAD"])("attack 19: %s, as mail programs and chats send it, uses nothing up", async (method) => {
    const url = await link();
    for (const headers of [{}, { "sec-purpose": "prefetch" }, { "x-http-method-override": "POST" }]) {
      const answer = await browser().request(url, { method, headers });
      expect([answer.status, answer.headers.get("set-cookie")]).toEqual([200, null]);
    }
    expect((await browser().press(url)).status).toBe(303);
  });

  test.each([
    ["another site", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    ["a sibling domain", { origin: "https://other.perch.example", "sec-fetch-site": "same-site" }],
    ["a sandboxed frame", { origin: "null", "sec-fetch-site": "cross-site" }],
  ])("attack 20: its button is pressed by a page of %s (login CSRF)", async (_, headers) => {
    const url = await link("mallory");
    const answer = await browser().request(url, { method: "POST", headers: { ...form, ...headers } });
    expect(contentsOf(answer)).toEqual(notValid);
    // It was not used up either.
    expect((await browser().press(url)).status).toBe(303);
  });

  test("attack 21: clickjacking, scripts, caches and referrers: the headers of every page forbid them", async () => {
    for (const url of [
      await link(),
      `${publicUrl}/connect/x`,
      `${publicUrl}/oauth/callback/accounts.example?state=x`,
    ]) {
      const { headers } = await browser().request(url);
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/script-src|unsafe-inline|unsafe-eval|\*/);
      expect(headers.get("cache-control")).toContain("no-store");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  test("attack 22: markup and characters that reorder text, in the texts of an agent's owner", async () => {
    const { organisation, mail, provider } = testbed();
    const name = "x";
    const description = '<script>alert(1)</script>"><img src=x onerror=alert(1)>\u202e';
    const return_urls = ["https://app.example/'><script>alert(1)</script>"];
    const tool = { ...connectedTool(mail.url, provider.issuer, { return_urls }), description };
    await createAgent(organisation, name, tool);
    const { link: url } = await createLink(organisation, { user_id: "<b>ada</b>", agent: name });
    const { status, body } = await browser().request(url);
    expect(status).toBe(200);
    expect(body).not.toMatch(/<script|<img|<b>ada|onerror|\u202e/);
    expect(body).toContain("app.example");
  });

  test("attack 23: the page does not name the user, and shows its targets: the hosts of the provider and of the application", async () => {
    const { provider } = testbed();
    const { body } = await browser().request(await link("ada@secret.example"));
    expect(body).not.toContain("ada@secret.example");
    expect(body).toContain(new URL(provider.issuer).host);
    expect(body).toContain("app.example");
  });

  test("attack 24: a cookie that a sibling domain or an http page plants: browsers accept its name only from this host over https", async () => {
    const { organisation, perch } = testbed();
    const own = openBrowser(perch);
    const { link: url, id } = await createLink(organisation, { user_id: "ada" });
    const { location } = await own.press(url);
    const [cookie = ""] = own.jar.setCookies;
    expect(cookie).toMatch(/^__Host-perch_connect/);
    for (const attribute of ["HttpOnly", "Secure", "SameSite=Lax", "Path=/"]) expect(cookie).toContain(attribute);
    expect(cookie).not.toMatch(/domain=/i);
    // Without the prefix, the same value is not taken.
    const callback = await own.consent(location, "ada");
    const [[name, value] = ["", ""]] = own.jar.cookies(perch.url);
    const planted = openBrowser(perch);
    planted.jar.cookies(perch.url).set(name.replace("__Host-", ""), value);
    expect((await planted.request(callback)).status).toBe(404);
    expect((await readConnection(organisation, id)).status).toBe("pending");
  });
});
