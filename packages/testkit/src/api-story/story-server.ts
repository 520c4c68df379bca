import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toPublicId } from "../../../server/src/platform/ids.ts";
import { createBrowserJar } from "../browsers/browser-jar.ts";
import { walkConsent } from "../browsers/consent-walk.ts";
import { startConsentingProvider } from "../identity/consenting-provider.ts";
import { type Installation, startInstallation } from "../installation/installation.ts";
import { withClient } from "../installation/scratch-database.ts";

export interface StoryServer {
  readonly url: string;
  readonly apiKey: string;
  /** The key of an operator of the installation. */
  readonly operatorKey: string;
  readonly webhookUrl: string;
  /** An authorization server that consents for every user. */
  readonly issuer: string;
  readonly stop: () => Promise<void>;
}

async function startReceiver() {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/perch` };
}

/** Opens the link of a connection as its user does, and returns the code that the application gets. */
export async function openLink(link: string): Promise<string> {
  const returned = await walkConsent(createBrowserJar(), link, { login: "customer" });
  return new URL(returned).searchParams.get("code") ?? "";
}

/** In a separate organisation, so that the story's organisation contains only what its examples show. */
async function createOperatorKey({ database, run }: Installation): Promise<string> {
  await run("create-organisation", "--name", "Operators");
  const { rows } = await withClient(database.adminUrl, (client) =>
    client.query<{ id: string }>("select id from organisations where name = 'Operators'"),
  );
  const organisation = toPublicId("organisation", rows[0]?.id ?? "");
  return run("create-key", "--organisation", organisation, "--operate");
}

/** A server with an engine, a webhook receiver and an authorization server, and an empty organisation. */
export async function startStoryServer(): Promise<StoryServer> {
  const undo: (() => unknown)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const perch = await startInstallation({
      settings: (url) => ({
        PERCH_WEBHOOK_ALLOW_LOOPBACK: "true",
        PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
        PERCH_PUBLIC_URL: url,
      }),
    });
    undo.push(perch.stop);
    const apiKey = await perch.createOrganisation("Bicycle shop");
    const operatorKey = await createOperatorKey(perch);
    const receiver = await startReceiver();
    undo.push(() => {
      receiver.server.close();
      receiver.server.closeAllConnections();
    });
    const provider = await startConsentingProvider();
    undo.push(provider.stop);
    return { url: perch.url, apiKey, operatorKey, webhookUrl: receiver.url, issuer: provider.issuer, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
