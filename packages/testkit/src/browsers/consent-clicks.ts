import type { BrowserContext } from "playwright-core";
import { startToolServer, type TestServer } from "../servers/tool-server.ts";

/** A user's application: the page that browsers come back to. */
export interface Application extends TestServer {
  readonly returnUrl: string;
}

export async function startApplication(): Promise<Application> {
  const page = "<!doctype html><html lang=en><title>Application</title><h1>Back at the application</h1>";
  const { url, close } = await startToolServer(() => ({ headers: { "content-type": "text/html" }, body: page }));
  return { url, close, returnUrl: `${url}/connected` };
}

/** The parameters with which a browser came back to the application. */
export interface Returned {
  readonly connectionId: string;
  readonly code: string;
}

/**
 * Clicks from the link to the application: the button of Perch's page, the user name and `Allow` at the provider. A browser that is already
 * signed in there is not asked for a name.
 */
export async function clickConsent(context: BrowserContext, link: string, login: string, returnUrl: string) {
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole("button").click();
  const name = page.getByLabel("User name");
  const allow = page.getByRole("button", { name: "Allow" });
  await name.or(allow).waitFor();
  if (await name.isVisible()) {
    await name.fill(login);
    await page.getByRole("button", { name: "Continue" }).click();
  }
  await allow.click();
  await page.waitForURL((url) => url.href.startsWith(`${returnUrl}?`));
  const { searchParams } = new URL(page.url());
  await page.close();
  const connectionId = searchParams.get("connection_id");
  const code = searchParams.get("code");
  if (connectionId === null || code === null) throw new Error(`${login} came back with ${searchParams}`);
  return { connectionId, code } satisfies Returned;
}
