import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gunzipSync, gzipSync } from "node:zlib";
import fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConsoleFiles } from "./console-files.ts";
import { consoleRoutes } from "./console-routes.ts";
import { replyWithError } from "./error-reply.ts";
import { securityHeaders } from "./security-headers.ts";

const script = `console.log("${"long ".repeat(500)}");\n`;
const page =
  '<meta name="style-nonce" content="__STYLE_NONCE__"><script type="module" src="/console/assets/a-1.js"></script>';

const dir = mkdtempSync(join(tmpdir(), "perch-console-files-"));

function start(from: string): FastifyInstance {
  const app = fastify();
  app.setErrorHandler(replyWithError);
  app.addHook("onRequest", async (_, reply) => void reply.headers(securityHeaders));
  consoleRoutes(app, readConsoleFiles(from));
  return app;
}

let app: FastifyInstance;
beforeAll(() => {
  mkdirSync(join(dir, "assets"));
  mkdirSync(join(dir, ".vite"));
  writeFileSync(join(dir, "index.html"), page);
  writeFileSync(join(dir, "icon.svg"), "<svg/>");
  writeFileSync(join(dir, ".vite/manifest.json"), "{}");
  writeFileSync(join(dir, "assets/a-1.js"), script);
  writeFileSync(join(dir, "assets/a-1.js.br"), brotliCompressSync(script));
  writeFileSync(join(dir, "assets/a-1.js.gz"), gzipSync(script));
  writeFileSync(join(dir, "secret.txt"), "not of the console");
  app = start(dir);
});
afterAll(async () => {
  await app.close();
  rmSync(dir, { recursive: true });
});

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
const asset = "/console/assets/a-1.js";

describe("GET /console/*", () => {
  test("/console leads to /console/", async () => {
    const { statusCode, headers } = await get("/console");
    expect([statusCode, headers.location]).toEqual([302, "/console/"]);
  });

  test.each([
    "/console/",
    "/console/index.html",
    "/console/agents/support",
    "/console/sign-in?return_to=%2Fconsole%2Fruns",
    "/console/.vite/manifest.json",
    "/console/secret.txt",
    "/console/..%2fsecret.txt",
  ])("%s is the page, and never a file that is not of the console", async (url) => {
    const { statusCode, headers, body } = await get(url);
    expect([statusCode, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(body).toContain('src="/console/assets/a-1.js"');
  });

  test("the page is not stored, and its policy allows its own files and one nonce, which no other response has", async () => {
    const pages = [await get("/console/"), await get("/console/")];
    const nonces = pages.map(({ headers, body }) => {
      const nonce = /content="([A-Za-z0-9+/=]{24})"/.exec(body)?.[1] ?? "";
      expect(headers).toMatchObject({
        "cache-control": "no-store",
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "permissions-policy": expect.stringContaining("camera=()"),
      });
      const policy = String(headers["content-security-policy"]);
      expect(policy).toContain(`script-src 'self'; style-src 'self' 'nonce-${nonce}';`);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      return nonce;
    });
    expect(new Set(nonces).size).toBe(2);
    expect(nonces).not.toContain("");
  });

  test.each([
    ["gzip, deflate, br", "br"],
    ["gzip", "gzip"],
    ["br;q=0, gzip", "gzip"],
    ["identity", undefined],
    ["", undefined],
  ])("a file for Accept-Encoding: %s is sent as %s, to be kept for a year", async (accepted, encoding) => {
    const { headers, rawPayload } = await get(asset, { "accept-encoding": accepted });
    expect(headers["content-encoding"]).toBe(encoding);
    expect(headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
      "content-length": String(rawPayload.length),
    });
    if (encoding === undefined) expect(rawPayload.toString()).toBe(script);
    if (encoding === "gzip") expect(gunzipSync(rawPayload).toString()).toBe(script);
  });

  test("a file whose name stays is asked for again, and answered 304 while it is the same", async () => {
    const { headers } = await get("/console/icon.svg");
    expect(headers).toMatchObject({ "cache-control": "no-cache", "content-type": "image/svg+xml" });
    const again = await get("/console/icon.svg", { "if-none-match": String(headers.etag) });
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, "", headers.etag]);
    expect((await get("/console/icon.svg", { "if-none-match": '"other"' })).statusCode).toBe(200);
  });

  test("HEAD has the headers of GET and no body", async () => {
    const { statusCode, headers, body } = await app.inject({ method: "HEAD", url: asset });
    expect([statusCode, headers["content-length"], body]).toEqual([200, String(script.length), ""]);
  });

  test("a file of another release is a 404 and not the page, because a browser would take that for a script", async () => {
    const { statusCode, body } = await get("/console/assets/a-0.js");
    expect(statusCode).toBe(404);
    expect(body).toContain("Reload the page");
  });

  test("a checkout whose console is not built says how to build it", async () => {
    const empty = start(join(dir, "nothing"));
    const { statusCode, headers, body } = await empty.inject({ url: "/console/agents" });
    expect([statusCode, headers["content-type"]]).toEqual([503, "text/plain; charset=utf-8"]);
    expect(body).toContain("pnpm --filter @perch/console build");
    await empty.close();
  });
});
