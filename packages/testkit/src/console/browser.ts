import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

export { launchChromium as launchBrowser } from "../browsers/chromium.ts";

export const wide = { width: 1440, height: 900 };
export const narrow = { width: 390, height: 844 };
export const themes = ["light", "dark"] as const;
export type Theme = (typeof themes)[number];

/** Signs a browser in with a key, as the sign-in page does, and returns the id of the session. */
export async function signIn(context: BrowserContext, url: string, apiKey: string): Promise<string> {
  const response = await context.request.post(`${url}/v1/console/sessions`, { data: { api_key: apiKey } });
  if (!response.ok()) throw new Error(`POST /v1/console/sessions: ${response.status()} ${await response.text()}`);
  return ((await response.json()) as { data: { id: string } }).data.id;
}

/** Opens a browser that is signed in, if it has a key, and shows this theme. */
export async function openContext(
  browser: Browser,
  url: string,
  {
    apiKey,
    theme,
    ...options
  }: BrowserContextOptions & { readonly apiKey?: string | undefined; readonly theme?: Theme } = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL: url, viewport: wide, reducedMotion: "reduce", ...options });
  // A browser with windows allows it without a question, the headless one does not.
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  context.setDefaultTimeout(30_000);
  if (theme) await context.addInitScript(`localStorage.setItem("perch.theme", "${theme}")`);
  if (apiKey !== undefined) await signIn(context, url, apiKey);
  return context;
}

interface Tabs {
  /** The tab of this key; without one, the tab of the key in the options. */
  readonly of: (apiKey?: string) => Promise<Page>;
  readonly close: () => Promise<void>;
}

/** One browser and tab for each key, opened when it is first needed. */
export function createTabs(
  browser: Browser,
  url: string,
  options: Parameters<typeof openContext>[2] = {},
  onOpen: (page: Page) => void = () => undefined,
): Tabs {
  const open = new Map<string | undefined, Promise<Page>>();
  const openTab = async (apiKey: string | undefined): Promise<Page> => {
    const page = await (await openContext(browser, url, { ...options, apiKey })).newPage();
    onOpen(page);
    return page;
  };
  return {
    of: (apiKey = options.apiKey) => {
      const tab = open.get(apiKey) ?? openTab(apiKey);
      open.set(apiKey, tab);
      return tab;
    },
    close: async () => {
      for (const tab of open.values()) await (await tab).context().close();
    },
  };
}

/** The forbidden actions of a page, and its requests. */
export interface Watch {
  /** Method and URL of every request, in their order. */
  readonly requests: { readonly method: string; readonly url: URL }[];
  /** Status, method and path of every answer from 400 on. */
  readonly refusals: { readonly status: number; readonly request: string }[];
  /** Errors in the browser's console, uncaught errors, violations of the page's policy, and dialogs of the browser. */
  readonly complaints: string[];
}

/** Chromium writes a line for each answer from 400 on, and React one for each that a page shows as its error; `refusals` has them. */
const isRefusal = (text: string): boolean =>
  /^Failed to load resource: the server responded with a status|, 4\d\d \w+, correlation id/.test(text);

/** Watches a page from now on, and adds to an earlier watch if one is given. */
export function watch(page: Page, seen: Watch = { requests: [], refusals: [], complaints: [] }): Watch {
  page.on("request", (request) => seen.requests.push({ method: request.method(), url: new URL(request.url()) }));
  page.on("response", (response) => {
    if (response.status() < 400) return;
    const request = `${response.request().method()} ${new URL(response.url()).pathname}`;
    seen.refusals.push({ status: response.status(), request });
  });
  page.on("console", (message) => {
    if (message.type() === "error" && !isRefusal(message.text())) seen.complaints.push(message.text());
  });
  page.on("pageerror", (error) => seen.complaints.push(`uncaught: ${error.message}`));
  page.on("dialog", (dialog) => {
    seen.complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return seen;
}

/** Goes to an address of the console and waits until its title is there and nothing is loading. */
export async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await settle(page);
}

/** Goes to an address as a link does, without loading the console again, for tests that are not about loading. */
export async function follow(page: Page, path: string): Promise<void> {
  const isOpen = /\/console\/(?!sign-in)/.test(page.url());
  if (!isOpen || path.startsWith("/console/sign-in")) return visit(page, path);
  await page.evaluate(`(async (router) => {
    router.history.push(${JSON.stringify(path)}, {}, { ignoreBlocker: true });
    await router.load();
  })(self.__TSR_ROUTER__)`);
  await settle(page);
}

/** A visible sign that the page is loading. At the end of a long list, out of sight, one may stay. */
const isLoading = `[...document.querySelectorAll("[role=status]")].some((status) => {
  const { top, bottom, height } = status.getBoundingClientRect();
  return /Loading/.test(status.textContent) && height > 0 && top < innerHeight && bottom > 0;
})`;

/** Waits until the page shows its title, and no visible part is loading. */
export async function settle(page: Page): Promise<void> {
  await page.locator("h1:visible").first().waitFor();
  await until(page, `document.fonts.status === "loaded" && !${isLoading}`);
}

/** Waits until the expression is true or a number, and returns it. The page's policy forbids Playwright's own way, which evaluates in the page. */
export async function until<T = unknown>(page: Page, expression: string, timeoutMs = 15_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await page.evaluate<T>(expression);
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`Not true after ${timeoutMs} ms at ${page.url()}: ${expression}`);
    await page.waitForTimeout(20);
  }
}

/**
 * Everything that a script can read back in this browser, as text. An entry named `key` is not a property of the storage, so each entry is
 * read by name.
 */
export const readStored = (page: Page): Promise<string> =>
  page.evaluate<string>(`JSON.stringify([document.cookie, ...[localStorage, sessionStorage].map((storage) =>
    Array.from({ length: storage.length }, (_, index) => [storage.key(index), storage.getItem(storage.key(index))]))])`);
