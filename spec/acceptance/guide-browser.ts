import { createBrowserJar } from "@perch/testkit/browsers/browser-jar.ts";
import { walkConsent } from "@perch/testkit/browsers/consent-walk.ts";

/** In the place of a reader's browser, `node guide-browser.ts LINK`: opens a link, consents as ada, and ends at the return page. */
const jar = createBrowserJar();
const returned = await walkConsent(jar, process.argv[2] ?? "", { login: "ada" });
const { response } = await jar.follow(returned);
if (!response.ok) throw new Error(`The return page answers ${response.status}: ${await response.text()}`);
