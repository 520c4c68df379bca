import { setTimeout as sleep } from "node:timers/promises";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";

const perch = usePerch();
const bot = { agent_id: "bot" };

describe("PATCH /v1/agents/{agent_id}", () => {
  test("sets model and temperature, and answers with the agent", async () => {
    verifies("operations.update-agent", "responses.update-agent", "agent.temperature", "agent.model");
    const { call } = await perch().createOrganisation();
    const { data: before } = ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    await sleep(5);
    const patched = await call("PATCH /v1/agents/{agent_id}", {
      params: bot,
      body: { model: "perch/script", temperature: 0.7 },
    });
    expect(patched.status).toBe(200);
    const { data: after } = ok(patched);
    expect(after).toEqual({ ...before, model: "perch/script", temperature: 0.7, updated_at: after.updated_at });
    expect(after.updated_at > before.updated_at).toBe(true);
    expect(ok(await call("GET /v1/agents/{agent_id}", { params: bot })).data).toEqual(after);
  });

  test("settings merge field by field, lists are replaced, null restores the default", async () => {
    verifies("agent.update-merges");
    const { call } = await perch().createOrganisation();
    const hsts = { enabled: true, maxAge: 60 };
    const body = {
      name: "bot",
      model: "perch/echo",
      instructions: "x",
      fallback_models: ["a/b"],
      limits: { max_steps: 3 },
      memory: { recall: true, recall_limit: 7 },
      logs: "off" as const,
      security: { hsts, enforceHttps: false },
    };
    ok(await call("POST /v1/agents", { body }));
    const patch = async (change: object) =>
      ok(await call("PATCH /v1/agents/{agent_id}", { params: bot, body: change })).data;
    expect((await patch({ limits: { max_tokens: 9 } })).limits).toMatchObject({
      max_steps: 3,
      max_tokens: 9,
      timeout_seconds: 120,
    });
    expect((await patch({ limits: null })).limits).toMatchObject({
      max_steps: 20,
      max_tokens: 100_000,
      timeout_seconds: 120,
    });
    expect((await patch({ memory: { remember: true } })).memory).toMatchObject({
      recall: true,
      recall_limit: 7,
      remember: true,
    });
    expect((await patch({ memory: null })).memory).toMatchObject({ recall: false, recall_limit: 5 });
    expect((await patch({ limits: {} })).logs).toBe("off");
    expect((await patch({ logs: "full" })).logs).toBe("full");
    expect((await patch({ logs: null })).logs).toBe("shapes");
    const shorter = { enabled: false, maxAge: 1 };
    expect((await patch({ security: { hsts: shorter } })).security).toEqual({ hsts: shorter, enforceHttps: false });
    expectError(await call("PATCH /v1/agents/{agent_id}", { params: bot, body: { model: null as never } }));
    expect((await patch({ security: { hsts } })).security).toEqual({ hsts, enforceHttps: false });
    expect((await patch({ fallback_models: ["c/d"] })).fallback_models).toEqual(["c/d"]);
    expect((await patch({ instructions: null })).instructions).toBe("");
    expect((await patch({ security: { enforceHttps: null } })).security).toEqual({ hsts });
    expect((await patch({ security: null })).security).toEqual({});
    expect(await patch({})).toMatchObject({ fallback_models: ["c/d"], model: "perch/echo" });
  });

  test("two changes at once are both kept", async () => {
    const { call } = await perch().createOrganisation();
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const changes = [
      { temperature: 1.5 },
      { instructions: "hi" },
      { limits: { max_steps: 7 } },
      { limits: { max_tokens: 8 } },
    ];
    await Promise.all(changes.map((body) => call("PATCH /v1/agents/{agent_id}", { params: bot, body })));
    expect(ok(await call("GET /v1/agents/{agent_id}", { params: bot })).data).toMatchObject({
      temperature: 1.5,
      instructions: "hi",
      limits: { max_steps: 7, max_tokens: 8, timeout_seconds: 120 },
    });
  });

  test("400 for a name, which never changes, and for unknown fields", async () => {
    verifies("agent.name-unchangeable");
    const { call } = await perch().createOrganisation();
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    for (const change of [{ name: "other" }, { status: "paused" }, { temperature: "hot" }, { model: null }]) {
      const error = expectError(await call("PATCH /v1/agents/{agent_id}", { params: bot, body: change as never }));
      expect(error).toMatchObject({ status: 400, code: "invalid_request" });
      expect(error.details?.map(({ field }) => field)).toEqual(Object.keys(change));
    }
  });

  test("403 for security settings without manage, 404 for an unknown agent", async () => {
    const { call, createKey } = await perch().createOrganisation();
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const developer = await createKey({ role: "developer" });
    const body = { security: { enforceHttps: true } };
    expect(expectError(await call("PATCH /v1/agents/{agent_id}", { params: bot, body }, developer)).status).toBe(403);
    expect(
      expectError(await call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "nobody" }, body: {} })).status,
    ).toBe(404);
  });
});
