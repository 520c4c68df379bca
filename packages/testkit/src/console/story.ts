import { Perch } from "../../../sdk/src/index.ts";
import { withClient } from "../installation/scratch-database.ts";
import { runCommand } from "../installation/server-process.ts";
import type { ConsoleServer } from "./console-server.ts";
import { insertPastTraffic } from "./past-runs.ts";
import type { Shop } from "./shop.ts";
import { tellAccess } from "./stories/access.ts";
import { tellDecide } from "./stories/decide.ts";
import { tellInstallation } from "./stories/installation.ts";
import { tellLogs } from "./stories/logs.ts";
import { tellMemory } from "./stories/memory.ts";
import { tellMetrics } from "./stories/metrics.ts";
import { tellSettings } from "./stories/settings.ts";
import { tellShip } from "./stories/ship.ts";
import type { Pages, StoryPage } from "./stories/told.ts";
import { tellWebhooks } from "./stories/webhooks.ts";

/** An organisation with agents, versions, and runs of all states. */
export interface Story {
  readonly apiKey: string;
  readonly organisationId: string;
  readonly runs: {
    /** Looked up an order, and answered. */
    readonly completed: string;
    /** One tool was called twice, and another one failed. */
    readonly troubled: string;
    readonly failed: string;
    /** Takes ten minutes. */
    readonly running: string;
    readonly cancelled: string;
  };
  readonly conversation: string;
  /** Addresses under `/console`, by the name of their screenshots. */
  readonly pages: Pages;
}

const parts = [
  tellShip,
  tellMetrics,
  tellLogs,
  tellDecide,
  tellMemory,
  tellWebhooks,
  tellAccess,
  tellSettings,
  tellInstallation,
];

export async function createOrganisation(
  { url, database }: Pick<ConsoleServer, "url" | "database">,
  name: string,
  tier: "free" | "enterprise" = "enterprise",
): Promise<{ readonly apiKey: string; readonly organisationId: string; readonly perch: Perch }> {
  const args = ["create-organisation", "--name", name, "--tier", tier];
  const apiKey = await runCommand({ ...database, drop: async () => undefined }, args);
  const perch = new Perch({ baseUrl: url, apiKey });
  return { apiKey, organisationId: (await perch.me()).organisation.id, perch };
}

const tool = (name: string, description: string, url: string, field: string) => ({
  type: "http" as const,
  name,
  description,
  method: "POST" as const,
  url,
  parameters: { type: "object" as const, properties: { [field]: { type: "string" } }, required: [field] },
});

const script = (...steps: object[]): string => JSON.stringify({ steps });

async function createAgents(perch: Perch, { toolUrl, modelUrl, modelKey }: Shop): Promise<void> {
  await perch.providers.create({
    name: "acme",
    type: "openai-compatible",
    base_url: modelUrl,
    api_key: modelKey,
    models: ["chat-large", "chat-small"],
  });
  await perch.agents.create({
    name: "support",
    model: "acme/chat-large",
    fallback_models: ["acme/chat-small"],
    logs: "full",
    instructions:
      "You answer customers of a tea shop, briefly and kindly.\nLook orders up before you say anything about them. " +
      "If you do not know something, say so and offer a colleague.",
    tools: [
      tool("lookup_order", "State of an order, by its number.", `${toolUrl}/orders`, "order"),
      tool("stock", "How many packets there are.", `${toolUrl}/stock`, "sku"),
      tool("price", "What it costs.", `${toolUrl}/price`, "sku"),
    ],
  });
  await perch.agents.create({
    name: "returns",
    model: "acme/chat-small",
    instructions: "You handle returns. Ask for the number of the order first.",
  });
  await perch.agents.create({ name: "translator", model: "acme/chat-small", instructions: "Translate into Dutch." });
  const intake = script({ delay_ms: 300, fail: "permanent", reply: "The provider refuses this content." });
  await perch.agents.create({ name: "order-intake", model: "perch/script", logs: "full", instructions: intake });
  const research = script({ reply: "Reading the market reports of the last quarter.", delay_ms: 600_000 });
  const limits = { timeout_seconds: 900 };
  await perch.agents.create({ name: "research", model: "perch/script", instructions: research, limits });
  // A model call is not interrupted: a cancelled run ends before its next step.
  const collect = { delay_ms: 1000, tool_calls: [{ name: "perch_echo", arguments: { source: "orders" } }] };
  const digest = script(collect, { reply: "Nothing new." });
  await perch.agents.create({ name: "weekly-digest", model: "perch/script", logs: "full", instructions: digest });
  await perch.agents.create({ name: "night-report", model: "perch/echo" });
  await perch.agents.pause("night-report");
}

async function deployVersions(perch: Perch): Promise<void> {
  const deploy = (environment: string, version: string, traffic_percent = 100) =>
    perch.deployments.deployAndWait("support", { environment, version, traffic_percent });
  await deploy("production", "v1");
  await perch.agents.update("support", { temperature: 0.3 });
  await deploy("production", "v2");
  await perch.agents.update("support", {
    instructions:
      "You answer customers of a tea shop, briefly and kindly.\nLook orders up before you say anything about them. " +
      "If you do not know something, say so and offer a colleague.\nNever promise a date that the carrier did not give.",
  });
  await deploy("staging", "v3");
  await deploy("production", "v3", 10);
  await perch.agents.update("support", { temperature: 0.2 });
}

const conversation = [
  "Hello, can you help me?",
  "Where is my order 4217?",
  "Can I still change the delivery address?",
  "And what is the difference between sencha and gunpowder?",
  "Is there jasmine tea in stock?",
  "Fine. How do I return the teapot?",
  "Thank you",
];

async function makeRuns(perch: Perch): Promise<Story["runs"]> {
  const session = { user_id: "customer-1007", session_id: "chat-2026-0417" };
  const ids: string[] = [];
  for (const message of conversation)
    ids.push((await perch.agents.invoke("support", { message, context: session })).request_id);
  const background = async (agent: string, message: string, user_id: string) =>
    (await perch.agents.invokeInBackground(agent, { message, context: { user_id } })).request_id;
  const failed = await background("order-intake", "Two packets of sencha, please", "customer-1019");
  await perch.runs.wait("order-intake", failed).catch(() => undefined);
  const cancelled = await background("weekly-digest", "What happened this week?", "anna");
  await perch.runs.cancel("weekly-digest", cancelled);
  await perch.runs.wait("weekly-digest", cancelled).catch(() => undefined);
  const running = await background("research", "Which teas will be asked for in spring?", "anna");
  return { completed: ids[1] ?? "", troubled: ids[4] ?? "", failed, running, cancelled };
}

async function recordPast({ database }: Pick<ConsoleServer, "database">, organisationName: string): Promise<void> {
  const rows = await withClient(database.adminUrl, async (client) => {
    const found = await client.query<{ id: string; organisation_id: string; name: string }>(
      "select a.id, a.organisation_id, a.name from agents a join organisations o on o.id = a.organisation_id where o.name = $1",
      [organisationName],
    );
    return found.rows;
  });
  const past = { support: 420, returns: 130, translator: 60, "order-intake": 40 };
  await insertPastTraffic(
    database.appUrl,
    rows
      .filter(({ name }) => name in past)
      .map(({ id, organisation_id, name }) => ({
        organisationId: organisation_id,
        agentId: id,
        runs: past[name as keyof typeof past],
        failsEvery: name === "order-intake" ? 3 : 29,
        version: name === "support" ? "v2" : null,
        durationMs: name === "support" ? 1900 : 800,
        message: "Where is my order 4217?",
        response: "It is on its way.",
      })),
  );
}

/** Creates a tea shop: seven agents, their traffic of a day, and a few runs worth looking at. */
export async function tellStory(server: ConsoleServer, shop: Shop, name = "Ghent Tea"): Promise<Story> {
  const { apiKey, organisationId, perch } = await createOrganisation(server, name);
  await createAgents(perch, shop);
  await deployVersions(perch);
  await recordPast(server, name);
  const runs = await makeRuns(perch);
  const pages: Record<string, StoryPage> = {};
  for (const tell of parts) Object.assign(pages, await tell({ perch, server, shop, organisationId }));
  return { apiKey, organisationId, runs, conversation: "chat-2026-0417", pages };
}
