import { createBrowserJar } from "@perch/testkit/browsers/browser-jar.ts";
import { startConsentingProvider } from "@perch/testkit/identity/consenting-provider.ts";
import { onTestFinished } from "vitest";
import { createLink, returnUrl } from "./consents.ts";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

/**
 * The settings of a node on which users can connect accounts of a provider on this machine. Browsers of tests go to the
 * node itself.
 */
export const connectionConfig = {
  publicUrl: "http://localhost:7400",
  outboundAllowedPrivateRanges: ["127.0.0.1/32"],
};

export const sampleUser = { user_id: "ada" };

/** A tool that users connect with an account of this provider. */
export const connectedToolAt = (issuer: string) => ({
  type: "http" as const,
  name: "mail",
  description: "Reads the user's mail.",
  method: "GET" as const,
  url: "https://mail.example",
  parameters: { type: "object" as const },
  connection: { account: "user" as const, issuer, client_id: "perch", return_urls: [returnUrl] },
});

/** Gives the agent a tool that users connect. Its provider consents by itself, for as long as the test. */
export async function addConnectedTool({ call }: Organisation, agent_id = "bot"): Promise<string> {
  const { issuer, stop } = await startConsentingProvider();
  onTestFinished(stop);
  const tool = connectedToolAt(issuer);
  ok(await call("PATCH /v1/agents/{agent_id}", { params: { agent_id }, body: { tools: [tool] } }));
  return tool.name;
}

/** Opens a link as its user does, at a provider that consents by itself. Returns the code that the application gets. */
export async function consentTo({ url }: { readonly url: string }, link: string): Promise<string> {
  const jar = createBrowserJar();
  const locationOf = (response: Response) => new URL(response.headers.get("location") ?? "", url);
  const atNode = ({ pathname, search }: URL) => url + pathname + search;
  const atProvider = locationOf(await jar.request(atNode(new URL(link)), { method: "POST" }));
  const callback = locationOf(await jar.request(atProvider.href));
  return locationOf(await jar.request(atNode(callback))).searchParams.get("code") ?? "";
}

/** A connection of `bot` whose user has come back with a code. */
export async function createReturnedConnection(node: { readonly url: string }, organisation: Organisation) {
  await addConnectedTool(organisation);
  const { id, link } = await createLink(organisation, sampleUser);
  return { params: { agent_id: "bot", connection_id: id }, body: { ...sampleUser, code: await consentTo(node, link) } };
}
