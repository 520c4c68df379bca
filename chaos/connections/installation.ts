import { launchChromium } from "@perch/testkit/browsers/chromium.ts";
import { type Application, startApplication } from "@perch/testkit/browsers/consent-clicks.ts";
import { type AccountProvider, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { type OAuthMcpServer, startOAuthMcpServer } from "@perch/testkit/servers/oauth-mcp-server.ts";
import { type ScriptServer, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { startWebhookReceiver, type WebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import type { Browser } from "playwright-core";
import { type Nodes, type Stops, startNodes } from "../release-nodes.ts";
import { playModel } from "./played-model.ts";

export interface Installation extends Nodes {
  readonly provider: AccountProvider;
  readonly mcp: OAuthMcpServer;
  readonly model: ScriptServer;
  readonly receiver: WebhookReceiver;
  readonly application: Application;
  readonly browser: Browser;
}

async function startOutside(stops: Stops) {
  const model = await startScriptServer(playModel);
  stops.push(model.close);
  const provider = await startAccountProvider({ perch: [] });
  stops.push(provider.stop);
  const mcp = await startOAuthMcpServer(provider);
  stops.push(mcp.close);
  const receiver = await startWebhookReceiver();
  stops.push(receiver.close);
  const application = await startApplication();
  stops.push(application.close);
  return { model, provider, mcp, receiver, application };
}

/** Two API nodes behind one address, two workers, an MCP server with its authorization server, and a browser. */
export async function startInstallation(stops: Stops): Promise<Installation> {
  const outside = await startOutside(stops);
  const nodes = await startNodes(stops, 1, (publicUrl) => ({
    PERCH_SCRIPT_MODEL_URL: outside.model.url,
    PERCH_PUBLIC_URL: publicUrl,
    PERCH_WEBHOOK_ALLOW_LOOPBACK: "true",
    PERCH_WEBHOOK_SWEEP_INTERVAL_SECONDS: "1",
  }));
  const browser = await launchChromium();
  stops.push(() => browser.close());
  return { ...nodes, ...outside, browser };
}
