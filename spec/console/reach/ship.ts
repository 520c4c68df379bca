import { visit } from "@perch/testkit/console/browser.ts";
import type { Page } from "playwright-core";
import { defineReach, type World } from "./reach.ts";

const agent = "shipper";
const script = (step: object): string => JSON.stringify({ steps: [step] });

interface Shipped {
  readonly canary: string;
  readonly first: string;
  readonly run: string;
  readonly running: string;
}

/** A canary beside a live version that has one before it, a run that has ended, and one that has not. */
async function prepare({ perch }: World): Promise<Shipped> {
  const deploy = (version: string, traffic_percent = 100) =>
    perch.deployments.deployAndWait(agent, { environment: "production", version, traffic_percent });
  await perch.agents.create({ name: agent, model: "perch/echo" });
  const first = await deploy("v1");
  await perch.agents.update(agent, { temperature: 0.1 });
  await deploy("v2");
  await perch.agents.update(agent, { temperature: 0.2 });
  const canary = await deploy("v3", 10);
  const { request_id: run } = await perch.agents.invoke(agent, { message: "Hello" });
  const slow = script({ delay_ms: 60_000, reply: "Late." });
  await perch.agents.create({ name: "slow", model: "perch/script", instructions: slow });
  const { request_id: running } = await perch.agents.invokeInBackground("slow", { message: "Hello" });
  return { canary: canary.id, first: first.id, run, running };
}

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).first().click();
const confirm = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name }).click();
const ofAgent = `/console/agents/${agent}`;
const show =
  (path: string) =>
  ({ page }: World) =>
    visit(page, path);
const ofDeployment = ({ page }: World, id: string) => visit(page, `${ofAgent}/deployments/${id}`);

export const reachShip = defineReach<Shipped>({
  prepare,
  operations: {
    "GET /v1/me": show("/console/agents"),
    "GET /v1/agents": show("/console/agents"),
    "GET /v1/models": show("/console/agents/new"),
    "GET /v1/agents/{agent_id}": show(ofAgent),
    "GET /v1/invocations": show("/console/runs"),
    "GET /v1/agents/{agent_id}/invocations": show(ofAgent),
    "GET /v1/agents/{agent_id}/invocations/{request_id}": ({ page }, { run }) =>
      visit(page, `/console/runs/${agent}/${run}`),
    "GET /v1/agents/{agent_id}/invocations/{request_id}/steps": ({ page }, { run }) =>
      visit(page, `/console/runs/${agent}/${run}`),
    "POST /v1/agents/{agent_id}/invocations/{request_id}/cancel": async ({ page }, { running }) => {
      await visit(page, `/console/runs/slow/${running}`);
      await press(page, "Cancel run");
    },
    "POST /v1/agents/{agent_id}/invoke": async ({ page }) => {
      await visit(page, `${ofAgent}/playground`);
      await page.getByRole("textbox", { name: "Message" }).fill("Hello");
      await press(page, "Send message");
    },
    "PATCH /v1/agents/{agent_id}": async ({ page }) => {
      await visit(page, `${ofAgent}/definition`);
      await page.getByLabel("Instructions").fill("Be brief.");
      await press(page, "Save draft");
    },
    "POST /v1/agents": async ({ page }) => {
      await visit(page, "/console/agents/new");
      await page.getByLabel("Name").fill("made-here");
      await page.getByLabel("Model").fill("perch/echo");
      await press(page, "Create agent");
      // It leads to the new agent, and opening another page would interrupt that.
      await page.getByRole("textbox", { name: "Message to made-here" }).waitFor();
    },
    "GET /v1/agents/{agent_id}/versions": show(`${ofAgent}/versions`),
    "GET /v1/agents/{agent_id}/versions/{version}/diff": show(`${ofAgent}/versions?from=v1&to=v2`),
    "GET /v1/agents/{agent_id}/versions/{version}": async ({ page }) => {
      await visit(page, `${ofAgent}/versions`);
      await page.getByRole("link", { name: "Show the definition of v1" }).click();
    },
    "GET /v1/deployments": show("/console/deployments"),
    "GET /v1/agents/{agent_id}/deployments": show(`${ofAgent}/deployments`),
    "GET /v1/agents/{agent_id}/deployments/{deployment_id}": async ({ page }) => {
      await visit(page, `${ofAgent}/deployments`);
      await page.getByRole("row", { name: /^v3/ }).getByRole("link", { name: "v3" }).click();
    },
    "PATCH /v1/agents/{agent_id}/deployments/{deployment_id}": async (world, { canary }) => {
      await ofDeployment(world, canary);
      await press(world.page, "Change share");
      await world.page.getByLabel("Share of requests, in percent").fill("25");
      await confirm(world.page, "Change share");
    },
    "POST /v1/agents/{agent_id}/deployments/{deployment_id}/promote": async (world, { canary }) => {
      await ofDeployment(world, canary);
      await press(world.page, "Promote canary");
      await confirm(world.page, "Promote v3");
    },
    "POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback": async (world, { first }) => {
      await ofDeployment(world, first);
      await press(world.page, "Roll back production to v1");
      await confirm(world.page, "Roll back production to v1");
    },
    "POST /v1/agents/{agent_id}/check": async ({ page }) => {
      await visit(page, ofAgent);
      await press(page, "Deploy agent");
    },
    "POST /v1/agents/{agent_id}/deployments": async ({ page }) => {
      await visit(page, ofAgent);
      await press(page, "Deploy agent");
      await page.getByLabel("Share of requests, in percent").fill("10");
      await confirm(page, "Deploy to production");
    },
    "POST /v1/agents/{agent_id}/deployments/{deployment_id}/abort": async ({ page, perch }) => {
      await visit(page, ofAgent);
      await page.getByRole("button", { name: "Abort canary" }).click();
      const canary = (await perch.deployments.list(agent, { status: "active" }).page()).data[0];
      await confirm(page, `Abort ${canary?.version}`);
    },
    "POST /v1/agents/{agent_id}/pause": async ({ page }) => {
      await visit(page, ofAgent);
      await press(page, "More actions");
      await page.getByRole("menuitem", { name: "Pause agent" }).click();
      await confirm(page, "Pause agent");
    },
    "POST /v1/agents/{agent_id}/resume": async ({ page }) => {
      await visit(page, ofAgent);
      await press(page, "Resume agent");
    },
    "DELETE /v1/agents/{agent_id}": async ({ page }) => {
      await visit(page, ofAgent);
      await press(page, "More actions");
      await page.getByRole("menuitem", { name: "Delete agent" }).click();
      await page.getByLabel(`Type ${agent} to confirm`).fill(agent);
      await confirm(page, "Delete agent");
    },
  },
});
