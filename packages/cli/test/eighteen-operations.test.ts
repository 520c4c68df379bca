import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type OperationKey, operationKeys } from "@perch/contract";
import { expect, test, vi } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { newDesk, removeDesks } from "./using-perch.ts";

const server = usePerch({}, { withWorker: true });
removeDesks();

/** The operations of docs/specification.md. */
const given: readonly OperationKey[] = [
  "POST /v1/agents/{agent_id}/invoke",
  "GET /v1/agents",
  "GET /v1/agents/{agent_id}",
  "PATCH /v1/agents/{agent_id}",
  "DELETE /v1/agents/{agent_id}",
  "POST /v1/agents/{agent_id}/deployments",
  "GET /v1/agents/{agent_id}/deployments",
  "POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback",
  "GET /v1/agents/{agent_id}/logs",
  "GET /v1/agents/{agent_id}/metrics",
  "POST /v1/agents/{agent_id}/memory/search",
  "DELETE /v1/agents/{agent_id}/memory",
  "POST /v1/webhooks",
  "GET /v1/webhooks",
  "DELETE /v1/webhooks/{webhook_id}",
  "POST /v1/keys",
  "GET /v1/keys",
  "DELETE /v1/keys/{key_id}",
];

/** Routes without parameters come first, because `/v1/keys/revoke-leaked` is not a key. */
const patterns = [...operationKeys]
  .sort((a, b) => a.split("{").length - b.split("{").length)
  .map((key) => [key, new RegExp(`^${key.replaceAll(/\{\w+\}/g, "[^/]+")}$`)] as const);

test("each of the 18 operations of the interface has a command, and the command does it", async () => {
  expect(given).toHaveLength(18);
  const { cwd, perch } = await newDesk(server());
  const called = new Set<string>();
  const fetching = vi.spyOn(globalThis, "fetch");
  const done = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await perch(args);
    expect({ code, stderr: code === 0 ? "" : stderr }, args.join(" ")).toEqual({ code: 0, stderr: "" });
    return stdout.trim();
  };
  const file = join(cwd, "agent.yaml");
  writeFileSync(file, "name: bot\nmodel: perch/echo\n");
  await done("apply");
  for (const label of ["v1", "v2"]) {
    writeFileSync(file, `name: bot\nmodel: perch/echo\ninstructions: ${label}\n`);
    await done("apply", "--yes");
    await done("deploy", "bot", "--label", label);
  }
  expect(await done("invoke", "bot", "Hello")).toBe("Hello");
  expect(await done("agents")).toContain("bot");
  expect(await done("agents", "get", "bot")).toContain("instructions: v2");
  expect(await done("rollback", "bot", "--yes")).toContain("v1 is live");
  expect(await done("deployments", "bot")).toContain("v2");
  expect(await done("logs", "bot")).toContain("Run completed");
  expect(await done("metrics", "bot", "throughput")).toContain("throughput");
  await done("memory", "add", "bot", "Ada likes tea");
  expect(await done("memory", "search", "bot", "tea", "--mode", "text")).toContain("Ada likes tea");
  expect(await done("memory", "clear", "bot", "--yes")).toContain("1 memories");
  expect(await done("webhooks", "create", "https://hooks.example.com/", "--event", "agent.failed")).toMatch(/^whsec_/);
  const { data: webhooks } = JSON.parse(await done("webhooks", "--json")) as { data: { id: string }[] };
  await done("webhooks", "delete", webhooks[0]?.id ?? "", "--yes");
  expect(await done("keys", "create", "ci")).toMatch(/^perch_/);
  const { data: keys } = JSON.parse(await done("keys", "list", "--json")) as { data: { id: string; name: string }[] };
  await done("keys", "revoke", keys.find(({ name }) => name === "ci")?.id ?? "", "--yes");
  await done("agents", "delete", "bot", "--yes");
  for (const [address, { method = "GET" } = {}] of fetching.mock.calls) {
    const route = `${method} ${new URL(String(address)).pathname}`;
    const found = patterns.find(([, pattern]) => pattern.test(route));
    if (found) called.add(found[0]);
  }
  fetching.mockRestore();
  expect(given.filter((key) => !called.has(key))).toEqual([]);
});
