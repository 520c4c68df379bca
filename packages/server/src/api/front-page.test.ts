import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { usePerch } from "../../test/support/harness.ts";
import { version } from "../platform/version.ts";

const perch = usePerch({ unauthenticatedRequestsPerMinute: 4, corsOrigins: ["https://app.example"] });

async function get(accept?: string) {
  const response = await fetch(perch().url, { headers: { origin: "https://app.example", ...(accept && { accept }) } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

describe("GET /", () => {
  test.each([
    undefined,
    "*/*",
    "application/json",
    "application/json, text/html;q=0.5",
    "text/html;q=0",
    "text/html;q=x",
  ])("is JSON with the name, the version and links for Accept: %s", async (accept) => {
    const { status, headers, text } = await get(accept);
    expect([status, headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    expect(JSON.parse(text)).toEqual({
      success: true,
      data: {
        name: "Perch",
        version,
        links: {
          console: "/console/",
          reference: "/docs",
          openapi: "/openapi.json",
          readiness: "/readyz",
          guide: "/#guide",
        },
      },
    });
  });

  test.each([browser, "text/html", "application/json;q=0.5, TEXT/HTML"])("is a page for Accept: %s", async (accept) => {
    const { status, headers, text } = await get(accept);
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(text).toContain(`<h1>Perch ${version}</h1>`);
    for (const link of ["/console/", "/docs", "/openapi.json", "/readyz"]) expect(text).toContain(`href="${link}"`);
    expect(text).toContain('id="guide"');
  });

  test("its links lead somewhere", async () => {
    const { data } = JSON.parse((await get()).text) as { data: { links: Record<string, string> } };
    for (const link of Object.values(data.links)) expect((await fetch(perch().url + link)).status, link).toBe(200);
  });

  test.each([browser, "*/*"])(
    "may be cached for a minute, and has the security headers, for Accept: %s",
    async (accept) => {
      const headers = Object.fromEntries((await get(accept)).headers);
      expect(headers).toMatchObject({
        "cache-control": "public, max-age=60",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        vary: "Origin, Accept",
      });
      expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; .*frame-ancestors 'none'/);
    },
  );

  test("its policy allows its own style and nothing else, and it names no other host", async () => {
    const { headers, text } = await get(browser);
    const style = /<style>(.*)<\/style>/.exec(text)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(headers.get("content-security-policy")).toContain(`style-src 'sha256-${hash}';`);
    expect(text).not.toMatch(/https?:\/\/|<script/);
  });

  test("does not count against the limit of requests without a key, as documents do", async () => {
    for (let request = 0; request < 5; request++) expect((await get()).status).toBe(200);
    expect((await fetch(`${perch().url}/v1/agents`)).status).toBe(401);
    expect((await fetch(`${perch().url}/openapi.json`)).status).toBe(429);
  });
});
