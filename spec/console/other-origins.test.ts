import { launchBrowser, openContext, signIn } from "@perch/testkit/console/browser.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { Perch } from "../../packages/sdk/src/index.ts";
import { type OtherSite, startOtherSite } from "./other-site.ts";

const server = inject("consoleServer");

let browser: Browser;
let site: OtherSite;
let victim: { readonly apiKey: string; readonly organisationId: string; readonly perch: Perch };
let attacker: typeof victim;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  [browser, site] = await Promise.all([launchBrowser(), startOtherSite()]);
  victim = await createOrganisation(server, "Victim");
  attacker = await createOrganisation(server, "Attacker");
  await victim.perch.agents.create({ name: "precious", model: "perch/echo" });
  context = await openContext(browser, server.url, { apiKey: victim.apiKey });
  page = await context.newPage();
});
afterAll(async () => {
  await browser?.close();
  site?.close();
});

const cookieValue = async (): Promise<string | undefined> =>
  (await context.cookies(server.url)).find(({ name }) => name.endsWith("perch_session"))?.value;
/** The signed-in identity of the victim's browser. */
const signedInAs = async (): Promise<string> => {
  const response = await context.request.get(`${server.url}/v1/me`);
  return ((await response.json()) as { data: { organisation: { id: string } } }).data.organisation.id;
};
const agentNames = async (perch: Perch): Promise<string[]> => {
  const names: string[] = [];
  for await (const { name } of perch.agents.list()) names.push(name);
  return names;
};

const submitForm = (method: string, path: string, encoding: string, fields: Record<string, string>) => `{
  const form = document.createElement("form");
  Object.assign(form, { method: "${method}", action: "${server.url}${path}", enctype: "${encoding}", target: "answer" });
  for (const [name, value] of Object.entries(${JSON.stringify(fields)})) {
    const input = document.createElement("input");
    Object.assign(input, { name, value });
    form.append(input);
  }
  const frame = document.createElement("iframe");
  frame.name = "answer";
  document.body.append(frame, form);
  form.submit();
}`;

/** What a page of another origin learns: the status, unless the browser hides the response. */
const sendFetch = (method: string, path: string, mode: string, body?: object, type = "application/json") => `
  fetch("${server.url}${path}", {
    method: "${method}", mode: "${mode}", credentials: "include",
    ${body ? `headers: { "content-type": "${type}" }, body: ${JSON.stringify(JSON.stringify(body))},` : ""}
  }).then(({ type, status }) => type === "opaque" ? "opaque" : status, () => "kept")`;

const agent = { name: "planted", model: "perch/echo" };

describe.each(["crossSite", "samePlace"] as const)(
  "a page of another origin (%s), opened by a signed-in user",
  (kind) => {
    const origin = () => site[kind];

    test("cannot change anything: not by a form, not by fetch in any mode, not with another method", async () => {
      await page.goto(origin());
      const text = JSON.stringify(agent);
      // A form can send text that parses as JSON.
      await page.evaluate(
        submitForm("post", "/v1/agents", "text/plain", { [`${text.slice(0, -1)},"instructions":"`]: '"}' }),
      );
      await page.evaluate(submitForm("post", "/v1/agents", "application/x-www-form-urlencoded", agent));
      await page.evaluate(submitForm("post", "/v1/agents/precious/pause", "application/x-www-form-urlencoded", {}));
      const answers = [
        await page.evaluate(sendFetch("POST", "/v1/agents", "no-cors", agent, "text/plain")),
        await page.evaluate(sendFetch("POST", "/v1/agents", "cors", agent)),
        await page.evaluate(sendFetch("POST", "/v1/agents/precious/pause", "no-cors")),
        await page.evaluate(sendFetch("DELETE", "/v1/agents/precious", "cors")),
        await page.evaluate(sendFetch("DELETE", "/v1/console/sessions/current", "cors")),
      ];
      // Cross-Origin-Resource-Policy hides even the status from the page.
      expect(answers).toEqual(["kept", "kept", "kept", "kept", "kept"]);
      await page.waitForTimeout(300);
      expect(await agentNames(victim.perch)).toEqual(["precious"]);
      expect((await victim.perch.agents.get("precious")).status).toBe("running");
      expect(await signedInAs()).toBe(victim.organisationId);
    });

    test("cannot read anything: not by fetch, not as an image or a script", async () => {
      await page.goto(origin());
      expect(await page.evaluate(sendFetch("GET", "/v1/agents", "cors"))).toBe("kept");
      const loaded = await page.evaluate(`new Promise((resolve) => {
      const script = Object.assign(document.createElement("script"), { src: "${server.url}/v1/agents" });
      script.onload = () => resolve("loaded");
      script.onerror = () => resolve("failed");
      document.body.append(script);
    })`);
      expect(loaded).toBe("failed");
    });

    test("cannot sign the victim in as the attacker", async () => {
      const before = await cookieValue();
      await page.goto(origin());
      const body = { api_key: attacker.apiKey };
      const text = JSON.stringify(body);
      await page.evaluate(
        submitForm("post", "/v1/console/sessions", "text/plain", { [`${text.slice(0, -1)},"x":"`]: '"}' }),
      );
      await page.evaluate(submitForm("post", "/v1/console/sessions", "application/x-www-form-urlencoded", body));
      await page.evaluate(sendFetch("POST", "/v1/console/sessions", "no-cors", body, "text/plain"));
      expect(await page.evaluate(sendFetch("POST", "/v1/console/sessions", "cors", body))).toBe("kept");
      await page.waitForTimeout(300);
      expect(await cookieValue()).toBe(before);
      expect(await signedInAs()).toBe(victim.organisationId);
    });

    test("cannot show the console in a frame", async () => {
      await page.goto(origin());
      const violation = page.waitForEvent("console", (message) =>
        /frame-ancestors|X-Frame-Options/i.test(message.text()),
      );
      await page.evaluate(
        `document.body.append(Object.assign(document.createElement("iframe"), { src: "${server.url}/console/agents" }))`,
      );
      await violation;
      const [, frame] = page.frames();
      expect(frame?.url().startsWith(server.url)).toBe(false);
    });
  },
);

test("a cookie planted by another page of this host is not adopted: signing in creates a new session", async () => {
  const other = await openContext(browser, server.url, { apiKey: attacker.apiKey });
  const [planted] = await other.cookies(server.url);
  if (!planted) throw new Error("The attacker has no session");
  const fresh = await openContext(browser, server.url);
  const tab = await fresh.newPage();
  site.fixate(`${planted.name}=${planted.value}; Path=/`);
  await tab.goto(`${site.samePlace}/fixate`);
  expect((await fresh.cookies(server.url))[0]?.value).toBe(planted.value);
  await signIn(fresh, server.url, victim.apiKey);
  const after = (await fresh.cookies(server.url)).filter(({ name }) => name === planted.name);
  expect(after.map(({ value }) => value)).not.toContain(planted.value);
  const me = await fresh.request.get(`${server.url}/v1/me`);
  expect(await me.json()).toMatchObject({ data: { organisation: { id: victim.organisationId } } });
  // The planted session never acts for the victim.
  const old = await other.request.get(`${server.url}/v1/me`);
  if (old.ok()) expect(await old.json()).toMatchObject({ data: { organisation: { id: attacker.organisationId } } });
  await fresh.close();
  await other.close();
});
