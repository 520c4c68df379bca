import { consentAtProvider } from "../identity/account-provider-pages.ts";
import type { BrowserJar } from "./browser-jar.ts";

export interface ConsentWalk {
  /** The account that is chosen at the provider. */
  readonly login: string;
  readonly decision?: "allow" | "deny";
}

/** Presses the button on the page of a link, and returns where it leads. */
export async function pressButton(jar: BrowserJar, link: string): Promise<string> {
  const page = await (await jar.request(link)).text();
  const fields = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const response = await jar.request(link, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", origin: new URL(link).origin },
    body: new URLSearchParams(fields.map(([, name = "", value = ""]): [string, string] => [name, value])),
  });
  await response.body?.cancel();
  return response.headers.get("location") ?? "";
}

/** From a link of a connection to the address that the browser returns to, which is not requested. */
export async function walkConsent(jar: BrowserJar, link: string, consent: ConsentWalk): Promise<string> {
  const callback = await consentAtProvider(jar, await pressButton(jar, link), consent);
  const response = await jar.request(callback);
  const location = response.headers.get("location");
  if (location === null) throw new Error(`Perch sent the browser nowhere: ${response.status} ${await response.text()}`);
  await response.body?.cancel();
  return location;
}
