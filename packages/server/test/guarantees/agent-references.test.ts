import { type OperationKey, operationKeys, operations, routeOf } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildRequest, ok } from "../support/contract-client.ts";
import { deploy } from "../support/deployment-calls.ts";
import { type Organisation, startPerch } from "../support/harness.ts";
import { addMemory } from "../support/memory-calls.ts";
import { createOrganisationWithSample } from "../support/operation-samples.ts";
import { connectionConfig } from "../support/sample-connections.ts";
import { createSecret } from "../support/secret-calls.ts";
import { insertConnection } from "../support/stored-connections.ts";

let perch: Awaited<ReturnType<typeof startPerch>>;
beforeAll(async () => {
  perch = await startPerch(connectionConfig, { withWorker: true });
});
afterAll(() => perch.stop());

const ofAgents = operationKeys.filter((key) => routeOf(key).path.startsWith("/v1/agents/{agent_id}"));
const reading = ofAgents.filter((key) => key.startsWith("GET "));
const changing = ofAgents.filter((key) => !key.startsWith("GET "));

const findAgentId = async ({ call }: Organisation) =>
  ok(await call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } })).data.id;

async function requestStatus({ adminKey }: Organisation, key: OperationKey, parts: object): Promise<number> {
  const { path, init } = buildRequest(key, parts);
  const headers = { ...(init.headers as object), authorization: `Bearer ${adminKey}` };
  return (await fetch(perch.url + path, { ...init, headers })).status;
}

test("the tests below see every path of an agent", () => {
  expect(reading.length).toBeGreaterThanOrEqual(14);
  expect(changing.length).toBeGreaterThanOrEqual(16);
});

describe("a path of an agent", () => {
  test("is read with the agent's id and with its name", async () => {
    verifies("agent.ref-id-or-name");
    const organisation = await perch.createOrganisation();
    const bot = { params: { agent_id: "bot" } };
    ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const run = ok(
      await organisation.call("POST /v1/agents/{agent_id}/invoke", { ...bot, body: { message: "hello" } }),
    );
    const cleared = ok(await organisation.call("DELETE /v1/agents/{agent_id}/memory", bot));
    const others = {
      deployment_id: (await deploy(organisation, { version: "v1" })).id,
      version: "v1",
      request_id: run.data.request_id,
      memory_id: (await addMemory(organisation, "one")).id,
      clear_id: cleared.data.id,
      secret_name: (await createSecret(organisation, { agent: "bot" })).name,
      connection_id: await insertConnection(perch, organisation),
    };
    const id = await findAgentId(organisation);
    for (const key of reading) {
      const query = key.endsWith("/metrics") ? { metric: "throughput" } : {};
      for (const agent_id of [id, "bot"])
        expect(await requestStatus(organisation, key, { params: { ...others, agent_id }, query }), key).toBe(200);
      const params = { ...others, agent_id: "missing" };
      expect(await requestStatus(organisation, key, { params, query }), key).toBe(404);
    }
  });

  /** By id, because the walks of the audit log and of repeated requests make the same changes by name. */
  test.each(changing)("is changed with the agent's id: %s", async (key) => {
    verifies("agent.ref-id-or-name");
    const { organisation, first } = await createOrganisationWithSample(perch, key);
    const { params } = first as { readonly params: Record<string, string> };
    const byId = { ...first, params: { ...params, agent_id: await findAgentId(organisation) } };
    expect(await requestStatus(organisation, key, byId)).toBe(operations[key].status);
  });
});
