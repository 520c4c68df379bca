import type { Deployment } from "@perch/contract";
import { vi } from "vitest";
import { ok } from "./contract-client.ts";
import type { Organisation, Perch } from "./harness.ts";
import { invokeAt, scripted } from "./invoking.ts";
import { startToolServer } from "./tool-server.ts";

interface Wish {
  readonly environment?: string;
  readonly version: string;
  readonly traffic_percent?: number;
  readonly guards?: Partial<NonNullable<Deployment["guards"]>>;
  readonly redeploy?: boolean;
}

export const createDeployment = async (
  { call }: Organisation,
  { environment = "production", ...wish }: Wish,
  agent_id = "bot",
): Promise<Deployment> =>
  ok(
    await call("POST /v1/agents/{agent_id}/deployments", {
      params: { agent_id },
      body: { environment, ...wish } as never,
    }),
  ).data;

export const deploymentOf = async (
  { call }: Organisation,
  deployment_id: string,
  agent_id = "bot",
): Promise<Deployment> =>
  ok(await call("GET /v1/agents/{agent_id}/deployments/{deployment_id}", { params: { agent_id, deployment_id } })).data;

/** Creates a deployment and waits until it is no longer pending. */
export async function deploy(organisation: Organisation, wish: Wish, agent_id = "bot"): Promise<Deployment> {
  const { id } = await createDeployment(organisation, wish, agent_id);
  return vi.waitFor(
    async () => {
      const deployment = await deploymentOf(organisation, id, agent_id);
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

/** The agent's draft says this from now on. */
export const draftSays = async (
  { call }: Organisation,
  reply: string,
  step: object = {},
  agent_id = "bot",
): Promise<void> => {
  const instructions = JSON.stringify({ steps: [{ reply, ...step }] });
  ok(await call("PATCH /v1/agents/{agent_id}", { params: { agent_id }, body: { instructions } }));
};

/** What the agent answers, and so which version of it runs. */
export const saysAt = async (
  node: { url: string },
  { adminKey }: Organisation,
  context: object = {},
  agent = "bot",
): Promise<string> => {
  const { status, text, data } = await invokeAt(node, adminKey, { message: "hello", context }, { agent });
  if (status !== 200) throw new Error(text);
  return data.response;
};

/** An organisation with a bot that says the label of what runs; each label was live in production, one after the other. */
export async function withVersions(
  perch: Pick<Perch, "newOrganisation">,
  labels: readonly string[],
): Promise<Organisation & { readonly deployments: readonly Deployment[] }> {
  const organisation = await perch.newOrganisation();
  await scripted(organisation, [{ reply: "draft" }]);
  const deployments: Deployment[] = [];
  for (const version of labels) {
    await draftSays(organisation, version);
    const made = await deploy(organisation, { version });
    if (made.status !== "active") throw new Error(`${version} failed: ${made.error}`);
    deployments.push(made);
  }
  return { ...organisation, deployments };
}

/** A tool whose address answers when it is told to: until then, a deployment of an agent that has it is pending. */
export async function slowTool() {
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
