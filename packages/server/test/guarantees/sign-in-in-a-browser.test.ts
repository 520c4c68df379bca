import { launchChromium } from "@perch/testkit/browsers/chromium.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PeopleTestbed, startPeopleTestbed } from "../support/people-testbed.ts";

let testbed: PeopleTestbed;
let browser: Browser;
let perch: string;

beforeAll(async () => {
  // For a browser, localhost and the issuer's 127.0.0.1 are two sites.
  testbed = await startPeopleTestbed({ host: "localhost" });
  [perch = ""] = testbed.urls;
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await testbed?.stop();
});

/** As a link on the page that is open. */
const followLink = (page: Page, to: string) => page.evaluate(`location.href = ${JSON.stringify(to)}`);

async function statusByLink(page: Page, to: string): Promise<number> {
  const answered = page.waitForResponse(to);
  await followLink(page, to);
  await page.waitForURL(to);
  return (await answered).status();
}

test("a real browser stores the session although the issuer is another site, and sends it from our own pages only", async () => {
  const page = await browser.newPage();
  await page.goto(perch);
  await followLink(page, `${perch}/console/oidc/start?return_to=/console/agents`);
  await page.fill("input[name=login]", "ada");
  expect(new URL(page.url()).origin).toBe(testbed.issuer.issuer);
  await page.click("button");
  await page.waitForURL(`${perch}/console/agents`);
  expect(await page.context().cookies(perch)).toMatchObject([
    { name: "perch_session", httpOnly: true, sameSite: "Strict", domain: "localhost" },
  ]);
  await page.goto(perch);
  expect(await statusByLink(page, `${perch}/v1/me`)).toBe(200);
  await page.goto(`${testbed.issuer.issuer}/.well-known/openid-configuration`);
  expect(await statusByLink(page, `${perch}/v1/me`)).toBe(401);
});
