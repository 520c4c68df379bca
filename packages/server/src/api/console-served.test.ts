import { describe, expect, test } from "vitest";
import { usePerch } from "../../test/support/harness.ts";

const perch = usePerch({ unauthenticatedRequestsPerMinute: 1, corsOrigins: ["https://app.example"] });
const withoutConsole = usePerch({ console: false });

const get = async (url: string) => {
  const response = await fetch(url, { headers: { accept: "text/html", origin: "https://app.example" } });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe("the console on an API node", () => {
  test("is served without authentication, with the files that its page names", async () => {
    const { status, text } = await get(`${perch().url}/console/agents`);
    expect(status).toBe(200);
    const files = [...text.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path]) => String(path));
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const path of files) {
      const file = await get(perch().url + path);
      expect([path, file.status]).toEqual([path, 200]);
      expect(file.headers.get("content-type")).not.toContain("text/html");
    }
  });

  test("all of its paths are counted under one name", async () => {
    for (const path of ["/console/runs/a/b", "/console/assets/none.js", "/console/c"]) await get(perch().url + path);
    const { text } = await perch().server.core.telemetry.read();
    const names = [...text.matchAll(/perch_http_requests_total\{operation="([^"]*console[^"]*)"/g)].map(
      ([, name]) => name,
    );
    expect(new Set(names)).toEqual(new Set(["GET /console/*"]));
  });

  test("a node with PERCH_CONSOLE=off has none, and its front page does not lead there", async () => {
    const { url } = withoutConsole();
    for (const path of ["/console", "/console/", "/console/assets/a.js"])
      expect((await get(url + path)).status).toBe(404);
    expect((await get(url)).text).not.toContain("/console");
  });

  test("a node with PERCH_CONSOLE=off starts no session and gives no link, and says what to do", async () => {
    const { adminKey } = await withoutConsole().createOrganisation();
    const post = (path: string, headers: Record<string, string>, body: object) =>
      fetch(withoutConsole().url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
    for (const response of [
      await post("/v1/console/sessions", {}, { api_key: adminKey }),
      await post("/v1/console/links", { authorization: `Bearer ${adminKey}` }, {}),
    ]) {
      expect(response.headers.get("set-cookie")).toBeNull();
      expect({ status: response.status, ...((await response.json()) as object) }).toMatchObject({
        status: 403,
        error: { message: expect.stringContaining("PERCH_CONSOLE=off") },
      });
    }
  });
});
