import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { sendFromPage, signIn } from "../support/browser.ts";
import { usePerch } from "../support/harness.ts";
import { sendRawRequest } from "../support/raw-request.ts";

const perch = usePerch({ allowedHosts: ["127.0.0.1", "localhost", "[::1]"] });

describe("with PERCH_ALLOWED_HOSTS, as `perch dev` sets it,", () => {
  test("a website whose name leads to this machine is refused (DNS rebinding), also with a key", async () => {
    verifies("console.allowed-hosts");
    const { adminKey } = await perch().createOrganisation();
    const port = new URL(perch().url).port;
    for (const host of [`evil.example:${port}`, "evil.example", "127.0.0.1.evil.example"]) {
      const headers = { host, origin: `http://${host}` };
      for (const path of ["/v1/me", "/docs", "/", "/v1/openapi.json"]) {
        const { status } = await sendRawRequest(perch().url + path, { key: adminKey, headers });
        expect([path, host, status]).toEqual([path, host, 403]);
      }
      const attempt = { method: "POST", body: { api_key: adminKey }, headers };
      expect(await sendFromPage(perch().url, "/v1/console/sessions", attempt)).toMatchObject({
        status: 403,
        setCookie: undefined,
      });
    }
    for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`, `127.0.0.1:${port}`])
      expect((await sendRawRequest(`${perch().url}/v1/me`, { key: adminKey, headers: { host } })).status).toBe(200);
  });

  test("probes are answered under any name: balancers use an address", async () => {
    const { status } = await sendRawRequest(`${perch().url}/healthz`, { headers: { host: "10.0.0.7" } });
    expect(status).toBe(200);
  });

  test("another port of this machine is another origin: a program of it cannot use the session", async () => {
    verifies("console.csrf");
    const { adminKey } = await perch().createOrganisation();
    const { send } = await signIn(perch().url, { api_key: adminKey });
    const headers = { origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" };
    expect((await send("/v1/agents", { method: "POST", body: {}, headers })).status).toBe(403);
  });
});
