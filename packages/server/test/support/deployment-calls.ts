import type { Deployment } from "@perch/contract";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { vi } from "vitest";
import { ok } from "./contract-client.ts";
import type { Organisation, Perch } from "./harness.ts";
import { createScriptedAgent, invokeAgent } from "./invoke-calls.ts";

interface DeploymentRequest {
  readonly environment?: string;
  readonly version: string;
  readonly traffic_percent?: number;
  readonly guards?: Partial<NonNullable<Deployment["guards"]>>;
  readonly redeploy?: boolean;
}

export const createDeployment = async (
  { call }: Organisation,
  { environment = "production", ...request }: DeploymentRequest,
  agent_id = "bot",
): Promise<Deployment> =>
  ok(
    await call("POST /v1/agents/{agent_id}/deployments", {
      params: { agent_id },
      body: { environment, ...request } as never,
    }),
  ).data;

export const getDeployment = async (
  { call }: Organisation,
  deployment_id: string,
  agent_id = "bot",
): Promise<Deployment> =>
  ok(await call("GET /v1/agents/{agent_id}/deployments/{deployment_id}", { params: { agent_id, deployment_id } })).data;

/** Creates a deployment and waits until it is no longer pending. */
export async function deploy(
  organisation: Organisation,
  request: DeploymentRequest,
  agent_id = "bot",
): Promise<Deployment> {
  const { id } = await createDeployment(organisation, request, agent_id);
  return vi.waitFor(
    async () => {
      const deployment = await getDeployment(organisation, id, agent_id);
      if (deployment.status === "pending") throw new Error(`${id} is still pending`);
      return deployment;
    },
    { timeout: 15_000, interval: 20 },
  );
}

export const rollBack = async ({ call }: Organisation, deployment_id: string, agent_id = "bot"): Promise<Deployment> =>
  ok(
    await call("POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback", {
      params: { agent_id, deployment_id },
    }),
  ).data;

/** Makes the agent's draft answer with this reply. */
export const setDraftReply = async (
  { call }: Organisation,
  reply: string,
  step: object = {},
  agent_id = "bot",
): Promise<void> => {
  const instructions = JSON.stringify({ steps: [{ reply, ...step }] });
  ok(await call("PATCH /v1/agents/{agent_id}", { params: { agent_id }, body: { instructions } }));
};

/** Invokes the agent and returns its response, which shows the version that ran. */
export const invokeForReply = async (
  node: { url: string },
  { adminKey }: Organisation,
  context: object = {},
  agent = "bot",
): Promise<string> => {
  const { status, text, data } = await invokeAgent(node, adminKey, { message: "hello", context }, { agent });
  if (status !== 200) throw new Error(text);
  return data.response;
};

/** Creates an organisation whose agent answers with the label of the running version, and deploys each label to production in turn. */
export async function createOrganisationWithVersions(
  perch: Pick<Perch, "createOrganisation">,
  labels: readonly string[],
): Promise<Organisation & { readonly deployments: readonly Deployment[] }> {
  const organisation = await perch.createOrganisation();
  await createScriptedAgent(organisation, [{ reply: "draft" }]);
  const deployments: Deployment[] = [];
  for (const version of labels) {
    await setDraftReply(organisation, version);
    const deployment = await deploy(organisation, { version });
    if (deployment.status !== "active") throw new Error(`${version} failed: ${deployment.error}`);
    deployments.push(deployment);
  }
  return { ...organisation, deployments };
}

/** Starts a tool server that answers once `answer` is called: until then, a deployment of an agent with this tool is pending. */
export async function startSlowTool() {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const server = await startToolServer(() => promise);
  const tool = {
    type: "http" as const,
    name: "slow",
    description: "Answers late.",
    method: "GET" as const,
    url: server.url,
    parameters: { type: "object" as const },
  };
  return { ...server, tool, answer: () => resolve(undefined) };
}
