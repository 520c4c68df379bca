import { join } from "node:path";
import { startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { modelServerKey } from "@perch/testkit/servers/models/model-server.ts";
import { startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { startOAuthToolServer } from "@perch/testkit/servers/oauth-mcp-server.ts";
import { type StartOwnServer, startFromCheckout, startPerchDev } from "./guide-servers.ts";

/**
 * The requirements of a guide besides a server, an organisation and its key (`PERCH_URL`, `PERCH_API_KEY`), and `PORT`, a free port. A page
 * that is not listed here needs nothing else, and its commands run in the checkout.
 */
export interface GuideSetup {
  /** The tier of the organisation whose key the page has; pro unless set. */
  readonly tier?: "free" | "pro" | "enterprise";
  /** Runs the commands in an empty folder. */
  readonly inEmptyFolder?: true;
  /** The first block starts a server, which the other blocks use instead of the shared one. */
  readonly startOwnServer?: StartOwnServer;
  /** Starts the services that the page uses, and returns variables for its commands. */
  readonly start?: () => Promise<{ readonly env: NodeJS.ProcessEnv; readonly stop: () => Promise<void> }>;
  /** A test elsewhere that executes the blocks of one language. It contains the name of the page. */
  readonly executedBy?: { readonly language: "python"; readonly test: string };
}

/** A server with OpenAI's chat completions, in place of the reader's own. */
async function startChatServer() {
  const { url, close } = await startOpenAiServer(() => ({ text: "It is on its way." }));
  return { env: { LLM_URL: url, LLM_API_KEY: modelServerKey }, stop: close };
}

/** An API behind an authorization server, and a program in place of the reader's browser, which consents there. */
async function startMailbox() {
  const provider = await startAccountProvider({ perch: [] });
  const mailbox = await startOAuthToolServer(provider);
  const browser = `${process.execPath} --no-warnings ${join(import.meta.dirname, "guide-browser.ts")}`;
  return {
    env: { MAILBOX_URL: mailbox.url, BROWSER: browser },
    stop: async () => {
      await mailbox.close();
      await provider.stop();
    },
  };
}

export const guideSetups: Readonly<Record<string, GuideSetup>> = {
  "approvals.md": { inEmptyFolder: true },
  "cli.md": { inEmptyFolder: true },
  "connections.md": { inEmptyFolder: true, start: startMailbox },
  "http-api.md": { startOwnServer: startFromCheckout },
  "limits-and-retries.md": { tier: "free" },
  "models.md": { start: startChatServer },
  "python-sdk.md": { executedBy: { language: "python", test: "sdk-python/tests/test_guide.py" } },
  "quick-start.md": { startOwnServer: startPerchDev },
  "secrets.md": { inEmptyFolder: true },
  "verify-calls.md": { executedBy: { language: "python", test: "sdk-python/tests/test_guide.py" } },
};

/** Settings of the server that the pages share. */
export const serverSettings: NodeJS.ProcessEnv = {
  PERCH_WEBHOOK_ALLOW_LOOPBACK: "true",
  PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
};
