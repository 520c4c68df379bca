import type { ShownConsent } from "../resources/connections/consent-by-link.ts";
import { createPage, row } from "./person-page.ts";
import { visibleHtml } from "./visible-html.ts";

/** The one answer to every invalid link and return, the same whatever the reason. */
export const invalidConsentPage = createPage("This link is not valid", [
  "<p>It has been used, has expired, or was replaced by a newer one, or you opened it in another browser. Go back to the application and start again.</p>",
]);

/** Asks before the browser goes to the provider. */
export const connectPage = ({ agentName, tool, providerHost, usedAtHost, returnHost }: ShownConsent): string =>
  createPage("Connect an account", [
    "<dl>",
    row("Agent", agentName),
    row("Tool", tool),
    row("Account at", providerHost),
    row("Your account is used at", usedAtHost),
    row("Afterwards you return to", returnHost),
    "</dl>",
    `<p>${visibleHtml(providerHost)} will ask you to sign in and to allow the agent to use your account.</p>`,
    `<p>Continue only if you started this yourself at <strong>${visibleHtml(returnHost)}</strong> just now. If you got this link from another person, close the page.</p>`,
    '<form method="post" action=""><button type="submit">Continue</button></form>',
  ]);
