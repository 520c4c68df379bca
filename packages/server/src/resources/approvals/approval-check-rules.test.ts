import { agentDefaults } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { expect, test } from "vitest";
import type { RunTool } from "../../outbound/tools/tool.ts";
import type { Definition } from "../deployments/version-rules.ts";
import { checkApprovals, checkApprovalsOfServer } from "./approval-check-rules.ts";

type Tool = Definition["tools"][number];
const amount = { when: [{ argument: "amount", op: "gt" as const, value: 1 }] };
const refund = (parameters: object, approval: Extract<Tool, { type: "http" }>["approval"]): Tool => ({
  type: "http",
  name: "refund",
  description: "",
  method: "POST",
  url: "https://shop.example/refund",
  parameters: { type: "object", ...parameters },
  approval,
});
const problemsOf = (tool: Tool) => checkApprovals({ ...agentDefaults, model: "perch/echo", tools: [tool] });

test("a condition on an argument that the tool does not have is a problem", () => {
  verifies("approvals.policy");
  const properties = { amount: {}, order: {} };
  expect(problemsOf(refund({ properties }, amount))).toEqual([]);
  const nested = { when: [{ argument: "order.total", op: "gt" as const, value: 1 }] };
  expect(problemsOf(refund({ properties }, nested))).toEqual([]);
  expect(problemsOf(refund({ properties: { amout: {} } }, amount))).toEqual([
    expect.objectContaining({ field: "tools.0.approval", message: expect.stringContaining("compares `amount`") }),
  ]);
  // A schema without a list of properties may have any.
  expect(problemsOf(refund({}, amount))).toEqual([]);
  expect(problemsOf(refund({ properties: {} }, "always"))).toEqual([]);
});

test("a policy for a tool that the MCP server does not have is a problem", () => {
  verifies("approvals.policy");
  const url = "https://files.example/mcp";
  const listed: RunTool[] = [
    {
      definition: { name: "files_delete", description: "", parameters: { type: "object", properties: { path: {} } } },
      target: { kind: "mcp", url, tool: "delete" },
    },
  ];
  const server = (tool_approvals: Extract<Tool, { type: "mcp" }>["tool_approvals"]): Tool => ({
    type: "mcp",
    name: "files",
    url,
    tool_approvals,
  });
  expect(checkApprovalsOfServer(server({ delete: "always" }), "tools.0", listed)).toEqual([]);
  expect(checkApprovalsOfServer(server({ delte: "always" }), "tools.0", listed)).toEqual([
    expect.objectContaining({
      field: "tools.0.tool_approvals.delte",
      message: expect.stringContaining("has no tool delte. As long as"),
    }),
  ]);
  expect(checkApprovalsOfServer(server({ delete: amount }), "tools.0", listed)).toHaveLength(1);
});
