import { hang, startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import {
  createScriptedAgent,
  invokeAgent,
  invokeInBackground,
  waitForRunRecord,
} from "../../../test/support/invoke-calls.ts";

const perch = usePerch({ outboundAllowedPrivateRanges: ["127.0.0.0/8"] }, { withWorker: true });
const busy = await startToolServer(() => ({ status: 503, headers: { "retry-after": "2" } }));
const slow = await startToolServer(hang);
afterAll(async () => {
  await busy.close();
  await slow.close();
});

const calling = (name: string) => ({ tool_calls: [{ name, arguments: {} }] });
const orders = {
  type: "http" as const,
  name: "orders",
  description: "Orders.",
  method: "POST" as const,
  url: busy.url,
  parameters: { type: "object" as const },
};

async function withTools(tools: object[], steps: object[]) {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation, steps);
  ok(
    await organisation.call("PATCH /v1/agents/{agent_id}", {
      params: { agent_id: "bot" },
      body: { tools: tools as never },
    }),
  );
  return organisation;
}

describe("a run that waits", () => {
  test("for a busy tool is listed and can be cancelled, and the tool is not called again", async () => {
    const organisation = await withTools([orders], [calling("orders")]);
    const request_id = await invokeInBackground(perch(), organisation.adminKey, { message: "hello" });
    await expect.poll(() => busy.calls.length).toBe(1);
    expect((await waitForRunRecord(organisation, request_id, () => true)).status).toBe("running");
    const params = { agent_id: "bot", request_id };
    ok(await organisation.call("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", { params }));
    // The run resumes after the tool's Retry-After, and stops then.
    expect((await waitForRunRecord(organisation, request_id)).status).toBe("cancelled");
    expect(busy.calls).toHaveLength(1);
  });

  test("for an MCP server that does not list its tools is listed", async () => {
    const organisation = await withTools([{ type: "mcp", name: "slow", url: slow.url }], [{ reply: "x" }]);
    const client = new AbortController();
    const response = fetch(`${perch().url}/v1/agents/bot/invoke`, {
      method: "POST",
      headers: { authorization: `Bearer ${organisation.adminKey}`, "content-type": "application/json" },
      body: JSON.stringify({ message: "hello" }),
      signal: client.signal,
    }).catch(() => undefined);
    await expect
      .poll(async () => {
        const query = { status: "running" as const };
        const params = { agent_id: "bot" };
        return ok(await organisation.call("GET /v1/agents/{agent_id}/invocations", { params, query })).data.length;
      })
      .toBe(1);
    client.abort();
    await response;
  });
});

test("a tool name that the database cannot store does not make a run wait forever", async () => {
  const organisation = await withTools([], [calling("a\0b")]);
  const { status, error } = await invokeAgent(perch(), organisation.adminKey, { message: "hello" });
  expect(status).toBe(422);
  expect(error.message).toContain("The model called the tool ab 5 times");
});
