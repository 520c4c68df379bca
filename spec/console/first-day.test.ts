import { launchBrowser, openContext, watch } from "@perch/testkit/console/browser.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import { startPeopleIssuer } from "@perch/testkit/identity/people-issuer.ts";
import { freePort, startServer } from "@perch/testkit/installation/server-process.ts";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { signInWithKey, signOut, spendFirstDay } from "./first-day.ts";
import { type Hand, keyboard, mouse } from "./hands.ts";

const server = inject("consoleServer");
let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

test.each([
  ["with the mouse", mouse],
  ["by keyboard alone", keyboard],
] as const)(
  "%s: sign in with a key, create an agent, talk to it, find the run, see its steps, edit and run again, sign out",
  async (name, createHand) => {
    const { apiKey } = await createOrganisation(server, `First day ${name}`);
    const context = await openContext(browser, server.url);
    const page = await context.newPage();
    const seen = watch(page);
    const hand: Hand = createHand(page);
    await signInWithKey(page, hand, apiKey);
    await spendFirstDay(page, hand);
    await signOut(page, hand);
    expect(seen.complaints).toEqual([]);
    await context.close();
  },
);

/** A server whose users sign in at a real OpenID provider. */
async function startServerWithPeople(organisation: string) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const accounts = new Map([["anna", { name: "Anna Example", email: "anna@example.com", groups: ["tea-admins"] }]]);
  const issuer = await startPeopleIssuer({ origins: [url], accounts });
  const oidc = {
    issuer: issuer.issuer,
    client_id: issuer.clientId,
    client_secret: issuer.clientSecret,
    name: "Tea Login",
    scopes: ["openid", "profile", "email", "groups"],
    groups: [{ group: "tea-admins", organisation, role: "admin" }],
  };
  const own = { PERCH_PORT: String(port), PERCH_PUBLIC_URL: url, PERCH_OIDC: JSON.stringify(oidc) };
  const database = { ...server.database, drop: async () => undefined };
  const node = await startServer(database, { ...server.settings, ...own });
  const stop = async () => {
    await node.stop();
    await issuer.stop();
  };
  return { url, stop };
}

test("a person signs in at the organisation's issuer, does the same, is named in the audit log, and signs out", async () => {
  const { organisationId, perch } = await createOrganisation(server, "People");
  const { url, stop } = await startServerWithPeople(organisationId);
  const context = await openContext(browser, url);
  const page = await context.newPage();
  const hand = mouse();
  await page.goto("/console/");
  await hand.press(page.getByRole("link", { name: /Tea Login/ }).or(page.getByRole("button", { name: /Tea Login/ })));
  await page.getByLabel("User name").fill("anna");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  expect(new URL(page.url()).origin).toBe(url);
  await spendFirstDay(page, hand);
  const { data: entries } = await perch.request("GET /v1/audit-log");
  expect(JSON.stringify(entries.filter(({ operation }) => operation === "createAgent"))).toContain("anna@example.com");
  await signOut(page, hand);
  await context.close();
  await stop();
});
