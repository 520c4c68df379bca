import { type AccountProvider, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAgent, outboundAllowedPrivateRanges } from "../support/consent-testbed.ts";
import {
  type ConsentBrowser,
  connectedTool,
  createLink,
  openBrowser,
  publicUrl,
  walkConsent,
} from "../support/consents.ts";
import { type Organisation, usePerch } from "../support/harness.ts";

/** Attacks 59 and 60 of docs/security/connections.md: an organisation passes itself off as another at a provider that remembers. */
const perch = usePerch({ publicUrl, outboundAllowedPrivateRanges });
const callback = /\/oauth\/callback\//;

const openLink = async (organisation: Organisation, browser: ConsentBrowser, user_id: string): Promise<string> =>
  (await browser.press((await createLink(organisation, { user_id })).link)).location;

describe.each(["document", "registered"])("a client of the kind %s", (kind) => {
  let provider: AccountProvider;
  let victims: Organisation;
  let browser: ConsentBrowser;

  const createOrganisation = async (changes: Readonly<Record<string, unknown>> = {}): Promise<Organisation> => {
    const organisation = await perch().createOrganisation();
    // Without `offline_access`, for which providers always ask.
    const settings = { client_id: undefined, scopes: ["mail.read"], ...changes };
    await createAgent(organisation, "bot", connectedTool("http://127.0.0.1:8080/mail", provider.issuer, settings));
    return organisation;
  };

  /** Victor has allowed the client of his organisation. */
  beforeAll(async () => {
    const fetchDocument = (url: string) => fetch(url.replace(publicUrl, perch().url));
    provider = await startAccountProvider({
      perch: [publicUrl],
      remembersConsents: true,
      ...(kind === "document" && { fetchDocument }),
    });
    victims = await createOrganisation();
    browser = openBrowser(perch());
    await walkConsent(perch(), victims, { user_id: "victor" }, browser);
  });
  afterAll(() => provider.stop());

  test("attack 59: a user who has allowed one organisation opens the link of another: the provider asks again", async () => {
    const known = await browser.jar.follow(await openLink(victims, browser, "victor"), {}, callback);
    expect(known.url).toMatch(callback);
    const location = await openLink(await createOrganisation(), browser, "mallory");
    const { url, response } = await browser.jar.follow(location, {}, callback);
    expect(url).not.toMatch(callback);
    expect(await response.text()).toContain("Allow access");
  });

  test("attack 60: another organisation names that client as its own: the provider sends no browser to its address", async () => {
    const clientId = new URL(await openLink(victims, browser, "victor")).searchParams.get("client_id") ?? "";
    const location = await openLink(await createOrganisation({ client_id: clientId }), browser, "mallory");
    expect(new URL(location).searchParams.get("client_id")).toBe(clientId);
    const { url, response } = await browser.jar.follow(location, {}, callback);
    expect([url, response.status]).toEqual([location, 400]);
    expect(await response.text()).toContain("redirect_uri");
  });
});
