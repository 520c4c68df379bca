import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";

const perch = usePerch();

describe("POST /v1/agents", () => {
  test("201 with the whole definition, defaults filled in", async () => {
    verifies(
      "agent.create-operation",
      "agent.definition-defaults",
      "agent.status-running",
      "agent.id-form",
      "limits.invocation-timeout",
      "responses.single-envelope",
    );
    const { call } = await perch().createOrganisation();
    const created = await call("POST /v1/agents", { body: { name: "support-bot", model: "perch/echo" } });
    expect(created.status).toBe(201);
    const { success, data } = ok(created);
    expect(success).toBe(true);
    expect(data).toMatchObject({
      name: "support-bot",
      status: "running",
      model: "perch/echo",
      temperature: null,
      instructions: "",
      tools: [],
      memory: { recall: false, recall_limit: 5, remember: false },
      limits: { max_steps: 20, max_tokens: 100_000, timeout_seconds: 120 },
      logs: "shapes",
      fallback_models: [],
      runtime: { type: "model" },
      security: {},
    });
    expect(data.id).toMatch(/^agent_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
  });

  test("every part of a definition is returned as it was given", async () => {
    verifies(
      "agent.definition-fields",
      "security.ip-allow-list-shape",
      "security.mtls-shape",
      "security.enforce-https-shape",
    );
    verifies("security.hsts-shape", "security.rate-limit-shape", "security.mfa-shape");
    const { call } = await perch().createOrganisation();
    const body = {
      name: "full",
      model: "openai/gpt-5",
      temperature: 0.2,
      instructions: "Be brief.",
      tools: [
        { type: "mcp" as const, name: "search", url: "https://tools.example/mcp" },
        {
          type: "http" as const,
          name: "order",
          description: "Look up an order",
          method: "GET" as const,
          url: "https://shop.example/orders",
          parameters: { type: "object" as const, properties: { id: { type: "string" } }, required: ["id"] },
        },
      ],
      memory: { recall: true, recall_limit: 3, remember: true },
      limits: { max_steps: 5, max_tokens: 1000, timeout_seconds: 900 },
      logs: "full" as const,
      fallback_models: ["anthropic/claude", "perch/echo"],
      runtime: { type: "model" as const },
      security: {
        ipWhitelist: { enabled: true, addresses: ["127.0.0.1", "198.51.100.0/24", "2001:db8::/32"] },
        mtls: { enabled: false, clientCert: "/tls/client.crt", clientKey: "/tls/client.key", caCert: "/tls/ca.crt" },
        enforceHttps: false,
        hsts: { enabled: true, maxAge: 31_536_000 },
        rateLimit: { enabled: true, requests: 100, window: "1m" },
        mfa: { enabled: true, operations: ["delete" as const, "update" as const] },
      },
    };
    expect(ok(await call("POST /v1/agents", { body })).data).toMatchObject(body);
    expect(ok(await call("GET /v1/agents/{agent_id}", { params: { agent_id: "full" } })).data).toMatchObject(body);
    const { name: _, ...definition } = body;
    ok(await call("POST /v1/agents", { body: { name: "empty", model: "perch/echo" } }));
    const target = { params: { agent_id: "empty" }, body: definition };
    expect(ok(await call("PATCH /v1/agents/{agent_id}", target)).data).toMatchObject(definition);
  });

  test.each([
    { name: "a" },
    { name: "0" },
    { name: "a-b-" },
    { name: "a".repeat(63) },
    { temperature: 0 },
    { temperature: 2 },
    { temperature: null },
    { model: "a/b/c" },
  ])("%j is accepted", async (change) => {
    verifies("agent.name-form", "agent.temperature-range", "agent.model-form");
    const { call } = await perch().createOrganisation();
    const body = { name: "bot", model: "perch/echo", ...change };
    expect(ok(await call("POST /v1/agents", { body })).data).toMatchObject(body);
  });

  test("a remote agent needs no model", async () => {
    verifies("agent.definition-defaults");
    const { call } = await perch().createOrganisation();
    const runtime = { type: "http" as const, url: "https://agents.example/echo" };
    const { data } = ok(await call("POST /v1/agents", { body: { name: "remote", runtime } }));
    expect(data).toMatchObject({ model: "perch/remote", runtime });
  });

  test.each([
    ["name", { model: "perch/echo" }],
    ["model", { name: "no-model" }],
  ])("400 names the missing parameter %s", async (field, body) => {
    verifies("errors.missing-parameter-named");
    const { call } = await perch().createOrganisation();
    const error = expectError(await call("POST /v1/agents", { body: body as never }));
    expect(error).toMatchObject({
      status: 400,
      code: "invalid_request",
      message: `Missing required parameter: ${field}`,
    });
    expect(error.details).toEqual([{ field, error: "Required" }]);
  });

  test.each([
    ["name", { name: "Upper Case" }],
    ["name", { name: "-leading" }],
    ["name", { name: "a".repeat(64) }],
    ["model", { model: "no-slash" }],
    ["name", { name: "" }],
    ["name", { name: "under_score" }],
    ["temperature", { temperature: 2.1 }],
    ["temperature", { temperature: -0.1 }],
    ["limits.timeout_seconds", { limits: { timeout_seconds: 901 } }],
    ["tools.0.url", { tools: [{ type: "mcp", name: "x", url: "file:///etc/passwd" }] }],
    [
      "tools",
      {
        tools: [
          { type: "mcp", name: "x", url: "https://a.example" },
          { type: "mcp", name: "x", url: "https://b.example" },
        ],
      },
    ],
    ["security.ipWhitelist.addresses.0", { security: { ipWhitelist: { enabled: true, addresses: ["999.1.1.1"] } } }],
    ["security.ipWhitelist.enabled", { security: { ipWhitelist: { enabled: "yes", addresses: [] } } }],
    ["security.rateLimit.window", { security: { rateLimit: { enabled: true, requests: 1, window: "soon" } } }],
    ["security.rateLimit.requests", { security: { rateLimit: { enabled: true, requests: 1.5, window: "1m" } } }],
    ["security.rateLimit.enabled", { security: { rateLimit: { enabled: 1, requests: 1, window: "1m" } } }],
    ["security.mtls.caCert", { security: { mtls: { enabled: true, clientCert: "/c", clientKey: "/k", caCert: 7 } } }],
    ["security.mtls.enabled", { security: { mtls: { enabled: 1, clientCert: "/c", clientKey: "/k", caCert: "/a" } } }],
    ["security.enforceHttps", { security: { enforceHttps: "yes" } }],
    ["security.hsts.maxAge", { security: { hsts: { enabled: true, maxAge: 1.5 } } }],
    ["security.hsts.enabled", { security: { hsts: { enabled: 1, maxAge: 1 } } }],
    ["security.mfa.operations.0", { security: { mfa: { enabled: true, operations: ["invoke"] } } }],
    ["security.mfa.enabled", { security: { mfa: { enabled: 1, operations: [] } } }],
    ["colour", { colour: "red" }],
    ["memory.colour", { memory: { colour: "red" } }],
  ])("400 names what is wrong with %s", async (field, change) => {
    verifies(
      "errors.validation-details",
      "errors.unknown-body-field",
      "agent.name-form",
      "agent.model-form",
      "agent.temperature-range",
      "limits.invocation-timeout",
    );
    verifies("security.ip-allow-list-shape", "security.mtls-shape", "security.enforce-https-shape");
    verifies("security.hsts-shape", "security.rate-limit-shape", "security.mfa-shape");
    const { call } = await perch().createOrganisation();
    const error = expectError(
      await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo", ...change } as never }),
    );
    expect(error).toMatchObject({ status: 400, code: "invalid_request", message: "Validation failed" });
    expect(error.details).toEqual([{ field, error: expect.any(String) }]);
  });

  test("409 for a name in use; ten at once make one agent", async () => {
    verifies("agent.name-unique", "errors.code.others");
    const { call } = await perch().createOrganisation();
    const attempts = Array.from({ length: 10 }, () =>
      call("POST /v1/agents", { body: { name: "one", model: "perch/echo" } }),
    );
    const answers = (await Promise.all(attempts)).toSorted((one, other) => one.status - other.status);
    expect(answers.map(({ status }) => status)).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    for (const refused of answers.slice(1)) expectError(refused, "conflict");
    expect(ok(await call("GET /v1/agents", { query: {} })).pagination.total).toBe(1);
  });

  test("403 for security settings without manage, and for a key that belongs to one agent", async () => {
    verifies("permissions.security-settings");
    const { call, createKey } = await perch().createOrganisation();
    const developer = await createKey({ role: "developer" });
    const body = { name: "bot", model: "perch/echo" };
    expect(expectError(await call("POST /v1/agents", { body: { ...body, security: {} } }, developer)).status).toBe(403);
    expect((await call("POST /v1/agents", { body }, developer)).status).toBe(201);
    const bound = await createKey({ role: "admin", agent_id: "bot" });
    expect(expectError(await call("POST /v1/agents", { body: { ...body, name: "other" } }, bound)).status).toBe(403);
  });
});
