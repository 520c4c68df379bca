import { expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { createScriptedAgent, invokeAgent } from "../../../test/support/invoke-calls.ts";

const perch = usePerch({ modelPrices: { "perch/script": 250_000 } }, { withWorker: true });

test("cost is the price of the tokens of every model call, if the operator set one", async () => {
  const organisation = await perch().createOrganisation();
  const look = { reply: "", tokens: 2, tool_calls: [{ name: "perch_echo", arguments: {} }] };
  await createScriptedAgent(organisation, [look, { reply: "done", tokens: 4 }]);
  ok(await organisation.call("POST /v1/agents", { body: { name: "free", model: "perch/echo" } }));
  for (const agent of ["bot", "bot", "free"])
    await invokeAgent(perch(), organisation.adminKey, { message: "hello" }, { agent });
  const costOf = async (agent_id: string) => {
    const query = { metric: "cost", granularity: "1d" } as const;
    const { data } = ok(await organisation.call("GET /v1/agents/{agent_id}/metrics", { params: { agent_id }, query }));
    expect(new Set(data.values.map(({ unit }) => unit))).toEqual(new Set(["USD"]));
    return data.values.reduce((sum, { value }) => sum + value, 0);
  };
  expect([await costOf("bot"), await costOf("free")]).toEqual([3, 0]);
});
