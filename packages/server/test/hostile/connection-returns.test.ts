import { describe, expect, test } from "vitest";
import { createAgent, useConsentTestbed } from "../support/consent-testbed.ts";
import {
  askForLink,
  connectedTool,
  createLink,
  openBrowser,
  publicUrl,
  returnUrl,
  walkConsent,
} from "../support/consents.ts";

/** Attacks 25 to 28 of docs/security/connections.md: the targets to which a browser may be sent. */
const testbed = useConsentTestbed();

describe("attack 25: a return address that is not registered for the tool, letter by letter:", () => {
  test.each([
    ["upper case in the host", "https://APP.example/connected"],
    ["upper case in the path", "https://app.example/Connected"],
    ["a slash at the end", `${returnUrl}/`],
    ["no path", "https://app.example"],
    ["a path behind it", `${returnUrl}/evil`],
    ["a path that climbs", "https://app.example/connected/../evil"],
    ["the default port", "https://app.example:443/connected"],
    ["another port", "https://app.example:8443/connected"],
    ["another scheme", "http://app.example/connected"],
    ["no scheme", "//app.example/connected"],
    ["a user name", "https://app.example@evil.example/connected"],
    ["a query", `${returnUrl}?next=evil`],
    ["an empty query", `${returnUrl}?`],
    ["a fragment", `${returnUrl}#x`],
    ["an encoded letter", "https://app.example/%63onnected"],
    ["an encoded slash", "https://app.example%2fconnected"],
    ["a space before it", ` ${returnUrl}`],
    ["a tab within", "https://app.example/con\tnected"],
    ["a backslash", "https://app.example\\connected"],
    ["a host that begins like it", "https://app.example.evil.example/connected"],
    ["a host that ends like it", "https://evilapp.example/connected"],
    ["a dot behind the host", "https://app.example./connected"],
    ["a script", "javascript:alert(1)"],
    ["a null byte", `${returnUrl}\u0000`],
    ["nothing", ""],
  ])("%s", async (_, return_url) => {
    const answer = await askForLink(testbed().organisation, { user_id: "ada", return_url });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { details: [{ field: "return_url" }] } });
  });
});

test("attack 26: a return address that another tool, another agent or another organisation has registered", async () => {
  const { organisation, foreign, mail, provider } = testbed();
  const at = (name: string, url: string) => ({
    ...connectedTool(mail.url, provider.issuer, { return_urls: [url] }),
    name,
  });
  await createAgent(
    organisation,
    "two",
    at("mail", "https://one.example/back"),
    at("calendar", "https://two.example/back"),
  );
  await createAgent(foreign, "theirs", at("mail", "https://three.example/back"));
  for (const host of ["two", "three", "app"]) {
    const return_url = `https://${host}.example/back`;
    const answer = await askForLink(organisation, { user_id: "ada", agent: "two", tool: "mail", return_url });
    expect(answer.status).toBe(400);
  }
  const own = "https://two.example/back";
  const { link } = await createLink(organisation, { user_id: "ada", agent: "two", tool: "calendar", return_url: own });
  expect(link).toContain(publicUrl);
});

test("attack 27: an open redirect: no parameter of the link, its form or the callback changes the target", async () => {
  const { perch, organisation, provider } = testbed();
  const evil = "https://evil.example/";
  const names = ["return_url", "redirect_uri", "redirect", "next", "url", "return_to", "state_url", "iss_url"];
  const query = names.map((name) => `${name}=${encodeURIComponent(evil)}`).join("&");
  const browser = openBrowser(perch);
  const { link } = await createLink(organisation, { user_id: "ada" });
  const pressed = await browser.request(`${link}?${query}`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", origin: publicUrl },
    body: query,
  });
  const target = pressed.location === "" ? (await browser.press(link)).location : pressed.location;
  expect(new URL(target).origin).toBe(provider.issuer);
  expect(target).not.toContain("evil.example");
  const callback = await browser.consent(target, "ada");
  const returned = await browser.request(`${callback}&${query}`);
  expect(returned.status).toBe(303);
  const { origin, pathname, searchParams } = new URL(returned.location);
  expect(origin + pathname).toBe(returnUrl);
  expect([...searchParams.keys()].sort()).toEqual(["code", "connection_id"]);
});

test.each([
  ["an error with markup", "error=%3Cscript%3Ealert(1)%3C/script%3E", "server_error"],
  ["an error that is not in the standard", "error=evil&error_description=x", "server_error"],
  ["an error address", "error=access_denied&error_uri=https://evil.example", "access_denied"],
])("attack 28: the provider's parameters on the return of the browser go no further: %s", async (_, sent, expected) => {
  const { perch, organisation, provider } = testbed();
  const browser = openBrowser(perch);
  const { link, id } = await createLink(organisation, { user_id: "ada" });
  const { location } = await browser.press(link);
  const asked = new URL(location).searchParams;
  const state = encodeURIComponent(asked.get("state") ?? "");
  const iss = encodeURIComponent(provider.issuer);
  const returned = await browser.request(`${asked.get("redirect_uri")}?state=${state}&iss=${iss}&${sent}`);
  expect(returned.status).toBe(303);
  const { origin, pathname, searchParams } = new URL(returned.location);
  expect(origin + pathname).toBe(returnUrl);
  expect(Object.fromEntries(searchParams)).toEqual({ connection_id: id, error: expected });
});

test("a consent that is denied comes back as access_denied, without a code", async () => {
  const { perch, organisation } = testbed();
  const browser = openBrowser(perch);
  const { link, id } = await createLink(organisation, { user_id: "ada" });
  const callback = await browser.consent((await browser.press(link)).location, "ada", "deny");
  const { location } = await browser.request(callback);
  expect(Object.fromEntries(new URL(location).searchParams)).toEqual({ connection_id: id, error: "access_denied" });
  const { returned } = await walkConsent(perch, organisation, { user_id: "ada" });
  expect(returned.searchParams.has("error")).toBe(false);
});
