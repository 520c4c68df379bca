import type { AgentDefinitionPatch, AgentProblem } from "@perch/contract";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { startMcpServer } from "@perch/testkit/servers/mcp-server.ts";
import { hang, startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { createSecret } from "../../../test/support/secret-calls.ts";

const perch = usePerch({ outboundAllowedPrivateRanges: ["127.0.0.0/8"] });
const operation = "POST /v1/agents/{agent_id}/check";
const params = { agent_id: "bot" };

type Tool = NonNullable<AgentDefinitionPatch["tools"]>[number];
const mcp = (name: string, url: string, headers?: Record<string, string>): Tool => ({
  type: "mcp",
  name,
  url,
  ...(headers && { headers }),
});
const http = (name: string, url: string): Tool => ({
  type: "http",
  name,
  description: "Books.",
  method: "POST",
  url,
  parameters: { type: "object" },
});
const unreachableUrl = `http://127.0.0.1:${await freePort()}`;

async function createAgent(definition: AgentDefinitionPatch): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  const body = { name: "bot", model: "perch/echo", ...definition } as never;
  ok(await organisation.call("POST /v1/agents", { body }));
  return organisation;
}
const problemsOf = async ({ call }: Organisation): Promise<AgentProblem[]> =>
  ok(await call(operation, { params })).data.problems;

describe(operation, () => {
  test("an agent that can work has no problems, and none of its tools is called", async () => {
    verifies("agent.check");
    const [orders, book] = [await startMcpServer(), await startToolServer(() => ({ status: 405 }))];
    onTestFinished(orders.close);
    onTestFinished(book.close);
    const organisation = await createAgent({ tools: [mcp("orders", orders.url), http("book", book.url)] });
    // On a busy machine even a server that works may need more than the check's five seconds.
    await expect.poll(() => problemsOf(organisation), { timeout: 60_000 }).toEqual([]);
    expect(orders.calls).toEqual([]);
    expect(new Set(book.calls.map(({ method }) => method))).toEqual(new Set(["OPTIONS"]));
  });

  test("lists every problem of the draft at once, each with its field and what to do", async () => {
    verifies("agent.check");
    const organisation = await createAgent({
      model: "local/llama3.2",
      fallback_models: ["perch/echo", "acme/small"],
      tools: [
        mcp("docs", `${unreachableUrl}/mcp`),
        http("book", unreachableUrl),
        mcp("orders", `${unreachableUrl}/mcp`, { Authorization: "Bearer {{secret.token}}" }),
      ],
      limits: { max_steps: 1 },
    });
    const problems = await problemsOf(organisation);
    expect(problems.map(({ kind, field }) => [kind, field])).toEqual([
      ["limits", "limits.max_steps"],
      ["secret", "tools.2"],
      ["model", "model"],
      ["model", "fallback_models.1"],
      ["tool", "tools.0"],
      ["tool", "tools.1"],
    ]);
    const [, secret, model, fallback, docs, book] = problems.map(({ message }) => message);
    expect(secret).toContain("the secret token does not exist. Create it:");
    expect(model).toContain("There is no model local/llama3.2 here. Use one of perch/echo, perch/script, or add a");
    expect(fallback).toContain("There is no model acme/small here.");
    for (const message of [docs, book]) expect(message).toContain("Start it, or correct ");
  });

  test("names the remote agent that does not answer, and knows it once it does", async () => {
    verifies("agent.check");
    const organisation = await createAgent({ model: undefined, runtime: { type: "http", url: unreachableUrl } });
    expect(await problemsOf(organisation)).toMatchObject([{ kind: "runtime", field: "runtime" }]);
    const remote = await startToolServer();
    onTestFinished(remote.close);
    const body = { runtime: { type: "http" as const, url: remote.url } };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params, body }));
    expect(await problemsOf(organisation)).toEqual([]);
  });

  test("an MCP server that refuses the key is a problem, and the secret's value is in no answer", async () => {
    verifies("agent.check", "secrets.redacted");
    const value = "the-value-that-stays-secret";
    const orders = await startMcpServer({
      refuse: ({ headers }) => ({ status: 401, body: `no entry with ${headers.authorization}` }),
    });
    onTestFinished(orders.close);
    const organisation = await createAgent({
      tools: [mcp("orders", orders.url, { Authorization: "Bearer {{secret.token}}" })],
    });
    await createSecret(organisation, { name: "token", value, hosts: [new URL(orders.url).origin] });
    const [problem] = await problemsOf(organisation);
    expect(problem).toMatchObject({ kind: "tool", field: "tools.0" });
    expect(problem?.message).toContain("answered 401");
    expect(problem?.message).not.toContain(value);
    expect(orders.requests[0]?.headers.authorization).toBe(`Bearer ${value}`);
  });

  test("names a secret that is missing once, even if another MCP server works", async () => {
    verifies("agent.check");
    const docs = await startMcpServer();
    onTestFinished(docs.close);
    const orders = mcp("orders", docs.url, { Authorization: "Bearer {{secret.token}}" });
    const organisation = await createAgent({ tools: [mcp("docs", docs.url), orders] });
    await expect
      .poll(async () => (await problemsOf(organisation)).map(({ kind, field }) => [kind, field]), { timeout: 60_000 })
      .toEqual([["secret", "tools.1"]]);
  });

  test("answers within seconds when an address never does, and names it", async () => {
    verifies("agent.check");
    const [silent, book] = [await startToolServer(hang), await startToolServer()];
    onTestFinished(silent.close);
    onTestFinished(book.close);
    const organisation = await createAgent({
      tools: [http("silent", silent.url), http("book", book.url), mcp("docs", silent.url)],
    });
    const startedAt = performance.now();
    const problems = await problemsOf(organisation);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(problems.map(({ field }) => field)).toEqual(["tools.0", "tools.2"]);
    expect(problems[1]?.message).toContain("took too long to answer");
  });

  test("403 for a key that may only read, 404 for an unknown agent", async () => {
    const organisation = await createAgent({});
    const reader = await organisation.createKey({ permissions: ["read"] });
    expect(expectError(await organisation.call(operation, { params }, reader)).status).toBe(403);
    const unknown = await organisation.call(operation, { params: { agent_id: "nobody" } });
    expect(expectError(unknown).status).toBe(404);
  });
});
