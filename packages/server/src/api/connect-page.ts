import type { ShownConsent } from "../resources/connections/consent-by-link.ts";
import { createPage, row } from "./person-page.ts";
import { visibleHtml } from "./visible-html.ts";

/** The one answer to every link and every return that is not valid. It says the same whatever the reason is. */
export const invalidConsentPage = createPage("This link is not valid", [
  "<p>It may have been used, it may have expired, or there is a newer one. It also works only in the browser that opened it. Go back to where you got it, and ask for a new one.</p>",
]);

/** Asks before the browser goes to the provider. */
export const connectPage = ({ agentName, tool, providerHost, returnHost }: ShownConsent): string =>
  createPage("Connect an account", [
    "<dl>",
    row("Agent", agentName),
    row("Tool", tool),
    row("Account at", providerHost),
    row("Then you come back to", returnHost),
    "</dl>",
    `<p>${visibleHtml(providerHost)} will ask you to sign in, and whether the agent may use your account. Go on only if you came here from ${visibleHtml(returnHost)} yourself just now, and not by a link that somebody sent you.</p>`,
    '<form method="post" action=""><button type="submit">Continue</button></form>',
  ]);
