import {
  type AccountProvider,
  type AccountProviderOptions,
  startAccountProvider,
} from "@perch/testkit/identity/account-provider.ts";
import { type OAuthToolServer, startOAuthToolServer } from "@perch/testkit/servers/oauth-mcp-server.ts";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { connectedTool, publicUrl } from "./consents.ts";
import { ok } from "./contract-client.ts";
import { type Organisation, type Perch, usePerch } from "./harness.ts";

export interface ConsentTestbed {
  readonly perch: Perch;
  readonly provider: AccountProvider;
  readonly mail: OAuthToolServer;
  /** New for each test, with an agent `bot` that reads mail with the account of its user. */
  readonly organisation: Organisation;
  /** Another one, with the same agent, for all tests. */
  readonly foreign: Organisation;
}

/** The providers of tests are at loopback; all other private addresses stay refused. */
export const outboundAllowedPrivateRanges = ["127.0.0.1/32"];

export const createAgent = async ({ call }: Organisation, name: string, ...tools: readonly object[]) =>
  ok(await call("POST /v1/agents", { body: { name, model: "perch/script", tools } as never })).data;

interface TestbedOptions extends Partial<AccountProviderOptions> {
  /** The server behind `perch/script`. If it is given, the testbed has a worker too. */
  readonly scriptModelUrl?: string;
}

/** An API node, an authorization server, and an API behind it. */
export function useConsentTestbed({ scriptModelUrl, ...providerOptions }: TestbedOptions = {}): () => ConsentTestbed {
  const config = { publicUrl, outboundAllowedPrivateRanges, ...(scriptModelUrl && { scriptModelUrl }) };
  const perch = usePerch(config, { withWorker: scriptModelUrl !== undefined });
  let started: Pick<ConsentTestbed, "provider" | "mail" | "foreign"> | undefined;
  let organisation: Organisation | undefined;
  const createOrganisation = async ({ provider, mail }: Pick<ConsentTestbed, "provider" | "mail">) => {
    const created = await perch().createOrganisation();
    await createAgent(created, "bot", connectedTool(mail.url, provider.issuer));
    return created;
  };
  beforeAll(async () => {
    const provider = await startAccountProvider({ perch: [publicUrl], ...providerOptions });
    const mail = await startOAuthToolServer(provider);
    started = { provider, mail, foreign: await createOrganisation({ provider, mail }) };
  });
  beforeEach(async () => {
    if (started) organisation = await createOrganisation(started);
  });
  afterAll(async () => {
    await started?.mail.close();
    await started?.provider.stop();
  });
  return () => {
    if (!started || !organisation) throw new Error("The testbed has not started yet");
    return { perch: perch(), organisation, ...started };
  };
}
