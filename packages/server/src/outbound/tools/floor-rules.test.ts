import type { AgentDefinition } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { floorOf, secretsOfTool, whyUnderFloor } from "./floor-rules.ts";

type Tool = AgentDefinition["tools"][number];

const http = (change: object = {}): Tool => ({
  ...{ type: "http", name: "refund", description: "Pays money back.", method: "POST", parameters: { type: "object" } },
  url: "https://api.bank.example/refunds/{id}",
  ...change,
});
const mcp = (change: object = {}): Tool => ({
  ...{ type: "mcp", name: "files", url: "https://files.example/mcp" },
  ...change,
});
const question: Tool = { type: "ask_person", name: "refund", description: "Asks.", answer: {} };

const floorFor = (tool: Tool, approvals: { tools?: string[]; hosts?: string[] } = {}, secrets: string[] = []) =>
  floorOf({ runtime: { type: "model" }, tools: [tool] }, { approvals }, secrets);
const isUnder = (tool: Tool, approvals: object, listed?: string): boolean =>
  whyUnderFloor(floorFor(tool, approvals), tool, listed) !== undefined;

describe("the floor reaches", () => {
  test.each([
    ["a host", "https://api.bank.example/x"],
    ["a host on another port", "https://api.bank.example:8443/x"],
    ["a host over HTTP", "http://api.bank.example/x"],
    ["a host in capitals", "https://API.Bank.example/x"],
    ["a host with the dot that ends it", "https://api.bank.example./x"],
    ["a host that is written encoded", "https://api%2ebank.example/x"],
  ])("%s", (_, url) => {
    verifies("approvals.floor");
    for (const tool of [http({ url }), mcp({ url })]) expect(isUnder(tool, { hosts: ["api.bank.example"] })).toBe(true);
  });

  test("an address in another spelling, on either side", () => {
    expect(isUnder(http({ url: "http://0x7f.1/x" }), { hosts: ["127.0.0.1"] })).toBe(true);
    expect(isUnder(http({ url: "http://127.0.0.1/x" }), { hosts: ["127.1"] })).toBe(true);
  });

  test("a host that cannot be read", () => {
    const tool = http({ url: "not an address" });
    expect(isUnder(tool, { hosts: ["api.bank.example"] })).toBe(true);
  });

  test("an HTTP tool, an MCP server, and a server's tool by its own name", () => {
    expect(isUnder(http(), { tools: ["refund"] })).toBe(true);
    expect(isUnder(mcp(), { tools: ["files"] }, "delete_file")).toBe(true);
    expect(isUnder(mcp(), { tools: ["delete_file"] }, "delete_file")).toBe(true);
  });

  test("a secret in a header or a parameter of an HTTP tool, and in no other place", () => {
    const secret = "{{secret.bank}}";
    const headers = { "X-Key": `Key ${secret}` };
    for (const change of [{ headers }, { query: { key: secret } }]) {
      const tool = http(change);
      expect(whyUnderFloor(floorFor(tool, {}, ["bank"]), tool)).toContain("The secret bank");
    }
    const connection = { account: "agent", issuer: "https://id.example", client_id: "perch", client_secret: secret };
    for (const tool of [http({ connection }), http({ description: secret }), mcp({ headers })])
      expect(secretsOfTool(tool)).toEqual([]);
  });
});

test("the floor reaches no other tool or host, nor a question", () => {
  expect(isUnder(http({ url: "https://bank.example/x" }), { hosts: ["api.bank.example"] })).toBe(false);
  expect(isUnder(http({ url: "https://evil.example/api.bank.example" }), { hosts: ["api.bank.example"] })).toBe(false);
  expect(isUnder(http(), { tools: ["Refund", "refunds"] })).toBe(false);
  expect(isUnder(mcp(), { tools: ["delete_file"] }, "read_file")).toBe(false);
  expect(isUnder(question, { tools: ["refund"] })).toBe(false);
});

describe("a run carries a floor", () => {
  test("only if it may reach a tool, which an MCP server names later", () => {
    expect(floorFor(http(), { tools: ["other"] })).toBeUndefined();
    expect(floorFor(http(), {})).toBeUndefined();
    expect(floorFor(mcp(), { tools: ["other"] })).toEqual({ tools: ["other"], hosts: [], secrets: [] });
    expect(floorFor(http(), { hosts: ["api.bank.example"] })).toBeDefined();
  });

  test("not if a remote agent answers, which has its own tools", () => {
    const runtime = { type: "http" as const, url: "https://remote.example" };
    expect(floorOf({ runtime, tools: [http()] }, { approvals: { tools: ["refund"] } }, [])).toBeUndefined();
  });
});
