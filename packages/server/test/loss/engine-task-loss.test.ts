import { setTimeout as sleep } from "node:timers/promises";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { startWithholdingProxy, type WithholdingProxy } from "@perch/testkit/installation/withholding-proxy.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEngine } from "../../src/engine/engine.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { shutDown } from "../../src/platform/shutdown.ts";
import { ok, send } from "../support/contract-client.ts";
import {
  createDeployment,
  createOrganisationWithVersions,
  deploy,
  getDeployment,
} from "../support/deployment-calls.ts";
import { type Organisation, startApi, startPerch } from "../support/harness.ts";

const logger = createLogger("silent");
let engine: RestateCluster;
let proxy: WithholdingProxy;
let isEngineReachable = true;
let perch: Awaited<ReturnType<typeof startPerch>>;
beforeAll(async () => {
  engine = await startRestate();
  const enginePort = Number(new URL(engine.ingressUrls[0] ?? "").port);
  proxy = await startWithholdingProxy(() => (isEngineReachable ? [enginePort] : []));
  perch = await startPerch({ ingressUrls: [`http://127.0.0.1:${proxy.port}`], adminUrls: engine.adminUrls });
  await perch.addWorker();
}, 120_000);
afterAll(async () => {
  await perch?.stop();
  proxy?.close();
  await engine?.stop();
});

const query = <T extends object>(statement: string, values: unknown[] = []) =>
  withClient(perch.database.adminUrl, async (client) => (await client.query<T>(statement, values)).rows);
const listTasks = async () => (await query<{ kind: string }>("select kind from engine_tasks")).map(({ kind }) => kind);
const statusOf = async (organisation: Organisation, id: string) => (await getDeployment(organisation, id)).status;
const uuidOf = (id: string) => parsePublicId("deployment", id) ?? "";
const patient = { timeout: 60_000, interval: 100 };

/** Invocations of the queues of environments that the engine has and that have not ended. */
async function countOpenActivations(): Promise<number> {
  const statement =
    "select id from sys_invocation where target_service_name = 'DeploymentQueues' and status <> 'completed'";
  const response = await fetch(`${engine.adminUrls[0]}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query: statement }),
  });
  return ((await response.json()) as { rows: unknown[] }).rows.length;
}

/**
 * Calls a node that never reaches the engine, and ends it. Its commits are as if its process had died before it sent
 * them.
 */
async function onNodeThatIsLost<T>(organisation: Organisation, work: (organisation: Organisation) => Promise<T>) {
  const node = await startApi({ ...perch.server.core.config, ingressUrls: ["http://127.0.0.1:1"] }, logger);
  const url = await node.app.listen({ host: "127.0.0.1", port: 0 });
  const call: Organisation["call"] = (key, request, as = organisation.adminKey) => send(url, as, key, request);
  try {
    return await work({ ...organisation, call });
  } finally {
    await shutDown(node.shutdownSteps, logger);
  }
}

describe("the work that a change gives the engine", () => {
  test("is done once the engine can be reached again, though the change itself was answered at once", async () => {
    const organisation = await createOrganisationWithVersions(perch, []);
    isEngineReachable = false;
    proxy.cut();
    const { id, status } = await createDeployment(organisation, { version: "v1" });
    const embedder = { model: "acme/other", dimensions: 768 as const };
    const changed = await organisation.call("PATCH /v1/agents/{agent_id}", {
      params: { agent_id: "bot" },
      body: { memory: { embedder } },
    });
    expect([status, ok(changed).data.memory.embedder]).toEqual(["pending", embedder]);
    // The process that committed the tasks has given up by then.
    await sleep(2500);
    expect((await listTasks()).toSorted()).toEqual(["activate_deployment", "embed_memory"]);
    expect(await statusOf(organisation, id)).toBe("pending");
    isEngineReachable = true;
    await expect.poll(() => statusOf(organisation, id), patient).toBe("active");
    await expect.poll(listTasks, patient).toEqual([]);
  }, 120_000);

  test("is done by another process if its own is lost after the commit", async () => {
    const organisation = await createOrganisationWithVersions(perch, []);
    const { id } = await onNodeThatIsLost(organisation, (lost) => createDeployment(lost, { version: "v1" }));
    await expect.poll(() => statusOf(organisation, id), patient).toBe("active");
    await expect.poll(listTasks, patient).toEqual([]);
  }, 120_000);

  test("is not done again if a process is lost after the engine got it and before its row was deleted", async () => {
    const organisation = await createOrganisationWithVersions(perch, []);
    const first = await deploy(organisation, { version: "v1" });
    const second = await deploy(organisation, { version: "v1", redeploy: true });
    await expect.poll(listTasks, patient).toEqual([]);
    await query(
      `insert into engine_tasks (id, organisation_id, kind, agent_id, environment, created_at, send_after)
         select id, organisation_id, 'activate_deployment', agent_id, environment, now() - interval '10 seconds', now()
           from deployments where id = $1`,
      [uuidOf(first.id)],
    );
    await expect.poll(listTasks, patient).toEqual([]);
    expect(await statusOf(organisation, first.id)).toBe("superseded");
    expect(await getDeployment(organisation, second.id)).toEqual(second);
  }, 120_000);

  test("deployments of an agent that was deleted meanwhile end, however many there are", async () => {
    const organisation = await createOrganisationWithVersions(perch, []);
    await onNodeThatIsLost(organisation, async (lost) => {
      await createDeployment(lost, { version: "v1" });
      for (let n = 0; n < 21; n++) await createDeployment(lost, { version: "v1", redeploy: true });
      ok(await lost.call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
    });
    await expect.poll(listTasks, patient).toEqual([]);
    await expect.poll(countOpenActivations, patient).toBe(0);
  }, 120_000);

  test("deployments become live in the order of their creation, in whichever order they reach the engine", async () => {
    const organisation = await createOrganisationWithVersions(perch, []);
    const count = 25;
    const created = await onNodeThatIsLost(organisation, async (lost) => {
      const deployments = [await createDeployment(lost, { version: "v1" })];
      while (deployments.length < count)
        deployments.push(await createDeployment(lost, { version: "v1", redeploy: true }));
      return deployments;
    });
    const [row] = await query<{ organisation_id: string; agent_id: string; environment: string }>(
      "select organisation_id, agent_id, environment from deployments where id = $1",
      [uuidOf(created[0]?.id ?? "")],
    );
    const { organisation_id: organisationId = "", agent_id: agentId = "", environment = "" } = row ?? {};
    const client = createEngine({ ingressUrls: engine.ingressUrls, logger, onFailure: () => undefined });
    const last = uuidOf(created.at(-1)?.id ?? "");
    await client.activate({ organisationId, agentId, environment, id: last });
    await client.close();
    await expect.poll(listTasks, patient).toEqual([]);
    await expect.poll(() => statusOf(organisation, created.at(-1)?.id ?? ""), patient).toBe("active");
    const rows = await query<{ id: string; status: string }>(
      "select id, status from deployments where agent_id = $1 order by live_order",
      [agentId],
    );
    expect(rows.map(({ id }) => id)).toEqual(created.map(({ id }) => uuidOf(id)));
    expect(rows.map(({ status }) => status)).toEqual([...Array(count - 1).fill("superseded"), "active"]);
  }, 120_000);
});
