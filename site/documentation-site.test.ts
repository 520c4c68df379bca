import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { promisify } from "node:util";
import { launchChromium } from "@perch/testkit/browsers/chromium.ts";
import { type Installation, startInstallation } from "@perch/testkit/installation/installation.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { permissions } from "../packages/contract/src/index.ts";
import { checkOutput } from "./check-output.ts";
import { unescapeHtml } from "./html.ts";
import { createLinks } from "./links.ts";
import { renderMarkdown } from "./markdown.ts";
import { listParts } from "./page-list.ts";

const repository = join(import.meta.dirname, "..");
const mediaTypes: Record<string, string> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};

const folder = mkdtempSync(join(tmpdir(), "perch-site-"));
const site = join(folder, "site");
let server: Server;
let browser: Browser;
/** The site is served below a path, as a project's pages often are. */
let siteUrl: string;

beforeAll(async () => {
  await promisify(execFile)(process.execPath, [join(repository, "site/main.ts"), "--out", site]);
  server = createServer(({ url = "" }, response) => {
    const path = join(
      site,
      decodeURIComponent(url.replace(/^\/docs\/perch\//, "").replace(/\?.*$/, "")) || "index.html",
    );
    if (!url.startsWith("/docs/perch/") || !existsSync(path)) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": mediaTypes[extname(path)] ?? "text/plain" }).end(readFileSync(path));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  siteUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/docs/perch/`;
  browser = await launchChromium();
}, 120_000);
afterAll(async () => {
  await browser?.close();
  server?.close();
  rmSync(folder, { recursive: true });
});

/** A page that records its requests and its errors. */
async function openPage(colorScheme: "light" | "dark" = "light") {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme });
  const asked: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on(
    "response",
    (response) => response.status() >= 400 && complaints.push(`${response.status()} ${response.url()}`),
  );
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  return { page, complaints, foreign: () => asked.filter((url) => !url.startsWith(siteUrl)) };
}

async function search(page: Page, words: string): Promise<void> {
  await page.keyboard.press("/");
  await page.getByRole("combobox").fill(words);
  await page.getByRole("option").first().waitFor();
}

const background = (page: Page) => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");

test("a reader opens a guide, searches, follows a result and switches to dark, and no other host is asked for anything", async () => {
  const { page, complaints, foreign } = await openPage();
  await page.goto(siteUrl);
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Streaming" }).click();
  await page.getByRole("heading", { name: "Streaming", level: 1 }).waitFor();
  await search(page, "rollback");
  expect(await page.getByRole("option").count()).toBeGreaterThan(2);
  await search(page, "max_concurrent_runs");
  const firstResult = () => page.getByRole("option").first().textContent();
  await expect.poll(firstResult, { timeout: 10_000 }).toContain("max_concurrent_runs");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\.html#/);
  await page.goto(`${siteUrl}reference/index.html`);
  await page.getByRole("link", { name: "Create agent" }).click();
  await page.getByRole("heading", { name: /Create agent/, level: 2 }).waitFor();

  const light = await background(page);
  await page.getByRole("button", { name: "Switch to dark colours" }).click();
  expect(await background(page)).not.toBe(light);
  await page.goto(`${siteUrl}architecture.html`);
  expect(await background(page)).not.toBe(light);
  expect(await page.locator("figure .when-dark svg").first().isVisible()).toBe(true);
  expect(await page.locator("figure .when-light svg").first().isVisible()).toBe(false);
  expect(complaints).toEqual([]);
  expect(foreign()).toEqual([]);
});

test("the colours of the system are used until a reader chooses", async () => {
  const { page: light } = await openPage("light");
  const { page: dark } = await openPage("dark");
  await Promise.all([light.goto(siteUrl), dark.goto(siteUrl)]);
  expect(await background(dark)).not.toBe(await background(light));
});

test("no page is wider than a phone", async () => {
  const { page } = await openPage();
  await page.setViewportSize({ width: 390, height: 800 });
  for (const path of ["index.html", "guides/streaming.html", "reference/webhooks.html", "security/threat-model.html"]) {
    await page.goto(siteUrl + path);
    expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBe(390);
  }
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "Quick start" }).first().click();
  await page.getByRole("heading", { name: "Quick start", level: 1 }).waitFor();
});

interface DocumentedOperation {
  readonly operationId: string;
  readonly requestBody?: { content: Record<string, { schema: { $ref: string } }> };
}

describe("the reference", () => {
  const document = JSON.parse(readFileSync(join(repository, "packages/contract/openapi.json"), "utf8"));
  const pages = () =>
    readdirSync(join(site, "reference")).map((name) => readFileSync(join(site, "reference", name), "utf8"));

  test("describes every operation, and every field of every named object", () => {
    const text = pages().join("\n");
    const operations = Object.entries<Record<string, DocumentedOperation>>(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).map(({ operationId }) => ({ operationId, path })),
    );
    expect(operations.length).toBeGreaterThan(10);
    for (const { operationId, path } of operations) {
      expect(text).toContain(`<h2 id="${operationId}">`);
      expect(text).toContain(`<code>${path}</code>`);
    }
    const fields = Object.values<{ properties?: object }>(document.components.schemas).flatMap(({ properties }) =>
      Object.keys(properties ?? {}),
    );
    expect(fields.length).toBeGreaterThan(100);
    expect(fields.filter((name) => !text.includes(`<dt><code>${name}</code>`))).toEqual([]);
  });

  test("gives an example of every operation that the server understands", async () => {
    const examples = pages()
      .flatMap((html) => [...html.matchAll(/<code>(<span[^>]*>)?curl[\s\S]*?<\/code>/g)])
      .map(([html]) => unescapeHtml(html.replace(/<[^>]+>/g, "")));
    const perch = await startInstallation({ engineNodes: 0 });
    try {
      const key = await createKeyForEverything(perch, await perch.createOrganisation("Acme"));
      const env = { ...process.env, PERCH_URL: perch.url, PERCH_API_KEY: key };
      const script = examples.map((example) => `${example} -s --max-time 10 -w '\\n%{http_code}\\n--\\n'`).join("\n");
      const { stdout } = await promisify(execFile)("sh", ["-c", script], { env, maxBuffer: 10_000_000 });
      const answers = stdout.split("\n--\n").slice(0, -1);
      const refused = examples
        .map((example, index) => ({ example, answer: answers[index] ?? "" }))
        .filter(({ example, answer }) => !isUnderstood(example, answer));
      expect(examples).toHaveLength(
        Object.values(document.paths).flatMap((path) => Object.keys(path as object)).length,
      );
      expect(refused).toEqual([]);
    } finally {
      await perch.stop();
    }
  }, 120_000);
});

/** A key that also has `approve` and `operate`, which no role includes; only an operator grants `operate`. */
async function createKeyForEverything({ url, run }: Installation, admin: string): Promise<string> {
  const { organisation } = await readData<{ organisation: { id: string } }>(`${url}/v1/me`, admin);
  const operator = await run("create-key", "--organisation", organisation.id, "--role", "admin", "--operate");
  const body = JSON.stringify({ name: "Examples", permissions });
  return (await readData<{ key: string }>(`${url}/v1/keys`, operator, { method: "POST", body })).key;
}

async function readData<Data>(url: string, key: string, init: { method?: string; body?: string } = {}): Promise<Data> {
  const headers = { authorization: `Bearer ${key}`, ...(init.body && { "content-type": "application/json" }) };
  const response = await fetch(url, { ...init, headers });
  return ((await response.json()) as { data: Data }).data;
}

/** The placeholder of a secret in an example: a code of a second factor, or the key that signs a browser in. */
const withInventedSecret = ["/v1/mfa/", '"api_key": "perch_Example'];

/** A 404 is right, because the ids do not exist. So is a 401 for a secret that does not exist. */
function isUnderstood(example: string, answer: string): boolean {
  const hasInventedSecret = withInventedSecret.some((part) => example.includes(part));
  return /\n(2\d\d|404|409|503)$/.test(answer) || (hasInventedSecret && answer.endsWith("\n401"));
}

describe("the build refuses", () => {
  const problemsOf = (markdown: string) => {
    const problems: string[] = [];
    const links = createLinks(repository, new Map([["docs/guides/tools.md", "guides/tools.html"]]));
    const html = renderMarkdown(markdown, {
      resolve: (href) => links.resolve("docs/guides/memory.md", "guides/memory.html", href),
      picture: () => "",
      problem: (line, message) => problems.push(`${line}: ${message}`),
    });
    return { html, problems };
  };

  test("a link to a file that does not exist, also from a table", () => {
    expect(problemsOf("[tools](tools.md) and [source](../../package.json)").problems).toEqual([]);
    expect(problemsOf("# Memory\n\n[gone](gone.md)").problems).toEqual(["3: the link gone.md leads nowhere"]);
    expect(problemsOf("| a |\n|---|\n| [out](../../../etc/passwd) |").problems).toEqual([
      "3: the link ../../../etc/passwd leads nowhere",
    ]);
  });

  test("a tag that GitHub would not show either, but no comment", () => {
    expect(problemsOf("Use <agent> here.").problems).toEqual(["1: the tag <agent> is not shown: use backticks"]);
    const { html, problems } = problemsOf("<!-- not executed: needs a provider -->\n\nText.");
    expect({ html, problems }).toEqual({ html: "<p>Text.</p>\n", problems: [] });
  });

  test("a link to a heading that does not exist, and anything that is loaded from another host", () => {
    const out = join(folder, "small");
    write(join(out, "a.html"), '<a href="b.html#here">1</a><a href="b.html#gone">2</a><a href="c.html">3</a>');
    write(join(out, "b.html"), '<h2 id="here">Here</h2><script src="https://cdn.example.com/x.js"></script>');
    write(join(out, "site.css"), '@import url("https://fonts.example.com/x.css");');
    expect(checkOutput(out, new Map([["a.html", "docs/a.md"]])).sort()).toEqual([
      "b.html: would load https://cdn.example.com/x.js",
      "docs/a.md: the link b.html#gone leads to no heading",
      "docs/a.md: the link c.html leads to no file",
      "site.css: would load https://fonts.example.com/x.css",
    ]);
  });

  test("a page without a place in the reading order", () => {
    const copy = join(folder, "repository");
    for (const { sources } of listParts(repository)) for (const source of sources) write(join(copy, source), "# Page");
    expect(listParts(copy).map(({ title }) => title)).toContain("Guides");
    write(join(copy, "docs/guides/new.md"), "# New");
    rmSync(join(copy, "docs/guides/memory.md"));
    expect(() => listParts(copy)).toThrow(
      "docs/guides/new.md has no place in the reading order of site/page-list.ts\n" +
        "site/page-list.ts lists docs/guides/memory.md, which does not exist",
    );
  });

  function write(path: string, content: string): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
});
