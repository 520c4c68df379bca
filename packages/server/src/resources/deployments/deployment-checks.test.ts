import type { AgentDefinitionPatch } from "@perch/contract";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { startMcpServer } from "@perch/testkit/servers/mcp-server.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import {
  createOrganisationWithVersions,
  deploy,
  getDeployment,
  invokeForReply,
} from "../../../test/support/deployment-calls.ts";
import { usePerch } from "../../../test/support/harness.ts";

const valkeyUrl = serviceUrl("PERCH_VALKEY_URL");
const perch = usePerch({ valkeyUrl, outboundAllowedPrivateRanges: ["127.0.0.0/8"] }, { withWorker: true });
const guarded = usePerch({ valkeyUrl }, { withWorker: true });

type Tool = NonNullable<AgentDefinitionPatch["tools"]>[number];
const mcp = (url: string): Tool => ({ type: "mcp", name: "orders", url });
const http = (url: string): Tool => ({
  type: "http",
  name: "book",
  description: "Books.",
  method: "POST",
  url,
  parameters: { type: "object" },
});
const unreachableUrl = `http://127.0.0.1:${await freePort()}`;
const unreachableHost = new URL(unreachableUrl).host;

/** v1 is live; v2 is the same agent with this change. */
async function deployWith(change: AgentDefinitionPatch, at = perch()) {
  const organisation = await createOrganisationWithVersions(at, ["v1"]);
  ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body: change }));
  const deployment = await deploy(organisation, { version: "v2" });
  return { organisation, deployment };
}

describe("a deployment that cannot work", () => {
  test.each<[string, AgentDefinitionPatch, string]>([
    [
      "a model that is not there",
      { model: "acme/large" },
      "There is no model acme/large here. Use one of perch/echo, perch/script, or add a provider: POST /v1/providers.",
    ],
    ["a fallback that is not there", { fallback_models: ["acme/small"] }, "There is no model acme/small here."],
    [
      "an MCP server that does not answer",
      { tools: [mcp(`${unreachableUrl}/mcp`)] },
      "The MCP server orders could not be reached: it refuses connections (ECONNREFUSED). Start it, or correct `url` of the tool orders.",
    ],
    [
      "an HTTP tool that does not answer",
      { tools: [http(unreachableUrl)] },
      `The tool book at ${unreachableHost} could not be reached: it refuses connections (ECONNREFUSED). Start it, or correct \`url\`.`,
    ],
    [
      "a remote agent that does not answer",
      { runtime: { type: "http", url: unreachableUrl } },
      `The remote agent at ${unreachableHost} could not be reached: it refuses connections (ECONNREFUSED). Start it, or correct \`url\`.`,
    ],
    [
      "tools and a single step",
      { tools: [http(unreachableUrl)], limits: { max_steps: 1 } },
      "The agent has tools, but limits.max_steps is 1: it could call one and never use the result. Allow 2 or more.",
    ],
    [
      "a model that is its own fallback",
      { fallback_models: ["perch/script"] },
      "fallback_models names perch/script twice: a model that failed would be its own fallback.",
    ],
  ])("%s: it fails with what to fix, and the live version still answers", async (_, change, error) => {
    verifies("deployment.checks", "deployment.failed-keeps-previous", "deployment.statuses");
    const { organisation, deployment } = await deployWith(change);
    expect(deployment).toMatchObject({ status: "failed", activated_at: null, ended_at: expect.any(String) });
    expect(deployment.error).toContain(error);
    expect(await getDeployment(organisation, organisation.deployments[0]?.id ?? "")).toEqual(
      organisation.deployments[0],
    );
    expect(await invokeForReply(perch(), organisation)).toBe("v1");
  });

  test.each<[string, (url: string) => AgentDefinitionPatch]>([
    ["an MCP server", (url) => ({ tools: [mcp(url)] })],
    ["an HTTP tool", (url) => ({ tools: [http(url)] })],
    ["a remote agent", (url) => ({ runtime: { type: "http", url } })],
  ])("%s at a private address: nothing is sent, and the error names the setting that allows it", async (_, change) => {
    verifies("deployment.checks", "outbound.guarded");
    const server = await startToolServer();
    onTestFinished(server.close);
    const { organisation, deployment } = await deployWith(change(server.url), guarded());
    expect(deployment.status).toBe("failed");
    expect(deployment.error).toContain("PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES");
    expect(server.calls).toEqual([]);
    expect(await invokeForReply(guarded(), organisation)).toBe("v1");
  });

  test("after the cause is fixed, the same label can be deployed, since the draft is the same", async () => {
    verifies("deployment.checks");
    const port = await freePort();
    const { organisation, deployment } = await deployWith({ model: "acme/large" });
    expect(deployment.status).toBe("failed");
    const provider = {
      name: "acme",
      type: "openai-compatible" as const,
      base_url: `http://127.0.0.1:${port}`,
      api_key: "sk-1",
    };
    ok(await organisation.call("POST /v1/providers", { body: provider }));
    expect(await deploy(organisation, { version: "v2" })).toMatchObject({ status: "active", error: null });
  });
});

describe("a deployment that can work", () => {
  test("tools and a remote agent pass if they respond at all, whatever the response to an empty request", async () => {
    verifies("deployment.checks");
    const orders = await startMcpServer();
    const refusing = await startToolServer(() => ({ status: 405 }));
    onTestFinished(orders.close);
    onTestFinished(refusing.close);
    const withTools = await deployWith({ tools: [mcp(orders.url), http(refusing.url)] });
    expect(withTools.deployment).toMatchObject({ status: "active", error: null });
    expect(refusing.calls.map(({ method, body }) => [method, body])).toEqual([["OPTIONS", ""]]);
    expect(orders.calls).toEqual([]);
    const remote = await deployWith({ runtime: { type: "http", url: refusing.url } });
    expect(remote.deployment).toMatchObject({ status: "active", error: null });
  });
});
