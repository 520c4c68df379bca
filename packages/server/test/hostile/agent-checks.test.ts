import { tierLimits } from "@perch/contract";
import { hang, startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { partOf } from "../../src/fairness/shares.ts";
import { ok } from "../support/contract-client.ts";
import { usePerch } from "../support/harness.ts";
import { createSecret, secretValue } from "../support/secret-calls.ts";

const guarded = usePerch();
const open = usePerch({ outboundAllowedPrivateRanges: ["127.0.0.0/8"] });
const operation = "POST /v1/agents/{agent_id}/check";
const params = { agent_id: "bot" };
const bearer = { Authorization: "Bearer {{secret.github_token}}" };

describe("a check as a way into the network", () => {
  test.each([
    ["an MCP server", (url: string) => ({ model: "perch/echo", tools: [{ type: "mcp", name: "a", url }] })],
    [
      "an HTTP tool",
      (url: string) => ({
        model: "perch/echo",
        tools: [{ type: "http", name: "a", description: "A.", method: "GET", url, parameters: { type: "object" } }],
      }),
    ],
    ["a remote agent", (url: string) => ({ runtime: { type: "http", url } })],
  ])("%s at a private address: nothing is sent", async (_, definition) => {
    verifies("agent.check", "outbound.guarded");
    const server = await startToolServer();
    onTestFinished(server.close);
    const { call } = await guarded().createOrganisation();
    ok(await call("POST /v1/agents", { body: { name: "bot", ...definition(server.url) } as never }));
    const { problems } = ok(await call(operation, { params })).data;
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toContain("PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES");
    expect(server.calls).toEqual([]);
  });

  test("a secret is not sent to a host that it is not for", async () => {
    verifies("agent.check");
    const server = await startToolServer();
    onTestFinished(server.close);
    const organisation = await open().createOrganisation();
    await createSecret(organisation, { hosts: ["bank.example"] });
    const tools = [{ type: "mcp" as const, name: "a", url: server.url, headers: bearer }];
    ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo", tools } }));
    const answer = ok(await organisation.call(operation, { params }));
    expect(answer.data.problems.map(({ kind }) => kind)).toEqual(["secret"]);
    expect(JSON.stringify(answer)).not.toContain(secretValue);
    expect(server.calls).toEqual([]);
  });
});

describe("many checks of addresses that never answer", () => {
  test("occupy no more than the organisation's share: the rest is 429, and another organisation is served", async () => {
    verifies("agent.check");
    const silent = await startToolServer(hang);
    onTestFinished(silent.close);
    const greedy = await open().createOrganisation("free");
    const runtime = { type: "http" as const, url: silent.url };
    ok(await greedy.call("POST /v1/agents", { body: { name: "bot", runtime } }));
    const count = partOf("agentChecks", "free") * 4;
    expect(count).toBeLessThan(tierLimits.free.burst);
    const checks = Array.from({ length: count }, () => greedy.call(operation, { params }));
    const other = await open().createOrganisation("free");
    ok(await other.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    expect(ok(await other.call(operation, { params })).data.problems).toEqual([]);
    const statuses = (await Promise.all(checks)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(partOf("agentChecks", "free"));
    expect(statuses.filter((status) => status === 429)).toHaveLength(count - partOf("agentChecks", "free"));
  });
});
