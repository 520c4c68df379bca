import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createSecret, secretValue } from "../support/secret-calls.ts";
import { bearer, createAgentWithTools, httpTool } from "../support/secret-runs.ts";

const perch = usePerch();
const url = "https://api.github.com/x";
const params = { secret_name: "github_token" };
const ofBot = { agent_id: "bot" };

async function setUp(): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  await createAgentWithTools(organisation, [httpTool(url)]);
  await createSecret(organisation);
  return organisation;
}

describe("keys", () => {
  test.each(["viewer", "developer"] as const)("of a %s create, repoint and delete no secret", async (role) => {
    verifies("secrets.permissions");
    const { call, createKey } = await setUp();
    const key = await createKey({ role });
    const body = { name: "mine", value: "12345678", hosts: ["evil.example"] };
    const change = { value: "12345678", hosts: ["evil.example"] };
    const refused = [
      await call("POST /v1/secrets", { body }, key),
      await call("PATCH /v1/secrets/{secret_name}", { params, body: change }, key),
      await call("DELETE /v1/secrets/{secret_name}", { params }, key),
      await call("POST /v1/agents/{agent_id}/secrets", { params: ofBot, body: { ...body, name: "github_token" } }, key),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    const { data } = ok(await call("GET /v1/secrets/{secret_name}", { params }, key));
    expect(data.hosts).toEqual(["api.github.com"]);
    expect(JSON.stringify(data)).not.toContain(secretValue.slice(0, 8));
  });

  test("that may write definitions can refer to a secret", async () => {
    const { call, createKey } = await setUp();
    const key = await createKey({ role: "developer" });
    const tools = [httpTool(url, { headers: bearer })];
    expect(ok(await call("PATCH /v1/agents/{agent_id}", { params: ofBot, body: { tools } }, key)).data.tools).toEqual(
      tools,
    );
  });
});

describe("definitions that are refused before they are stored", () => {
  const problemWith = async (tool: object): Promise<string> => {
    const { call } = await setUp();
    const answer = await call("PATCH /v1/agents/{agent_id}", { params: ofBot, body: { tools: [tool] } as never });
    expect(answer.status).toBe(400);
    return JSON.stringify(answer.body);
  };

  test.each([
    ["a reference in the address", `${url}/{{secret.github_token}}`],
    ["a reference in the query of the address", `${url}?key={{secret.github_token}}`],
    ["an encoded reference in the address", `${url}/%7B%7Bsecret.github_token%7D%7D`],
    ["a user name in the address", "https://api.github.com@evil.example/"],
    ["a password in the address", "https://user:{{secret.github_token}}@api.github.com/"],
  ])("%s", async (_, address) => {
    verifies("secrets.templates");
    expect(await problemWith(httpTool(address, { headers: bearer }))).toContain("tools");
  });

  test.each([
    ["a template within a template", "{{secret.{{secret.github_token}}}}"],
    ["another template", "{{env.HOME}}"],
    ["a reference that is not closed", "Bearer {{secret.github_token"],
    ["a name that no secret can have", "{{secret.../../etc}}"],
    ["a line break in a header", "x\r\nX-Admin: {{secret.github_token}}"],
    ["a line feed in a header", "x\nHost: evil.example"],
    ["a header of other characters", "{{secret.github_token}}\u010a\u0000"],
  ])("%s", async (_, template) => {
    verifies("secrets.templates");
    expect(await problemWith(httpTool(url, { headers: { "X-Key": template } }))).toContain("headers");
  });

  test.each([
    ..."Host Content-Length Transfer-Encoding Connection Proxy-Authorization Mcp-Session-Id Content-Type".split(" "),
    ..."X-Request-Id Idempotency-Key Signature Signature-Input Traceparent Webhook-Signature X-Service-Signature".split(
      " ",
    ),
    ..."Accept-Encoding Expect Upgrade User-Agent Sec-Fetch-Mode".split(" "),
    "X Key",
    "X-Key:",
    "X-Key\r\nHost",
  ])("the header %j", async (name) => {
    verifies("secrets.templates");
    expect(await problemWith(httpTool(url, { headers: { [name]: "{{secret.github_token}}" } }))).toContain("headers");
  });

  test("a value that could end a header", async () => {
    const { call } = await setUp();
    for (const value of ["12345678\r\nX-Admin: 1", "12345678\n", "1234\u00005678", "1234567\u00fc", " 12345678"]) {
      const body = { name: "other", value, hosts: ["api.github.com"] };
      expect((await call("POST /v1/secrets", { body })).status).toBe(400);
      expect((await call("PATCH /v1/secrets/{secret_name}", { params, body: { value } })).status).toBe(400);
    }
  });

  test("another host, by a caller who does not know the value", async () => {
    verifies("secrets.hosts");
    const { call } = await setUp();
    const hosts = ["api.github.com", "evil.example"];
    const refused = await call("PATCH /v1/secrets/{secret_name}", { params, body: { hosts } });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain("value");
    ok(await call("PATCH /v1/secrets/{secret_name}", { params, body: { hosts, value: "12345678" } }));
  });

  test.each([
    "*.github.com",
    "*",
    "api.github.com/",
    "https://api.github.com/x",
    "user@api.github.com",
    "API.github.com",
  ])("the host %s", async (host) => {
    const { call } = await setUp();
    const body = { name: "other", value: "12345678", hosts: [host] };
    expect((await call("POST /v1/secrets", { body })).status).toBe(400);
  });

  test("an API key of a provider that is more than a reference", async () => {
    const { call } = await setUp();
    for (const api_key of ["x{{secret.github_token}}", "{{secret.a}}{{secret.b}}", "{{secret.A}}"]) {
      const body = { name: "acme", type: "openai-compatible", base_url: url, models: [], api_key } as const;
      expect((await call("POST /v1/providers", { body: { ...body, models: [] } })).status).toBe(400);
    }
  });
});
