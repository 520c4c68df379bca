import { clickConsent } from "@perch/testkit/browsers/consent-clicks.ts";
import type { BrowserContext } from "playwright-core";
import { type Api, createApi } from "../api-client.ts";
import { runPerch } from "../perch-process.ts";
import type { Installation } from "./installation.ts";

/** Its runs wait for a provider that does not answer; those of the other one soon fail, with the reason. */
export const patientAgent = "patient";
export const hastyAgent = "hasty";
/** Name of the MCP server in the agent's definition. */
export const server = "mail";

/** A person with a browser of their own. The id in the application is not the name at the provider. */
export interface Person {
  readonly userId: string;
  readonly login: string;
  readonly browser: BrowserContext;
}

export interface Connection {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
}

/** An organisation whose application has its users connect their accounts. */
export interface Tenant {
  readonly api: Api;
  readonly key: string;
  /** Asks for a link, clicks it as the user does, and confirms for the user who is signed in. */
  readonly connect: (person: Person, agent?: string) => Promise<Connection>;
  readonly findConnection: (person: Person) => Promise<Connection>;
}

const timeouts = { [patientAgent]: 300, [hastyAgent]: 5 };

export async function createTenant({ settings, apiUrls, mcp, application, receiver }: Installation): Promise<Tenant> {
  const api = createApi(apiUrls);
  const key = await runPerch(settings, ["create-organisation", "--name", "Connections", "--tier", "enterprise"]);
  const connection = { account: "user", return_urls: [application.returnUrl] };
  const tools = [{ type: "mcp", name: server, url: mcp.url, connection }];
  for (const [name, timeout_seconds] of Object.entries(timeouts)) {
    const limits = { timeout_seconds, max_concurrent_runs: 500 };
    await api.post("/v1/agents", key, { name, model: "perch/script", limits, tools });
  }
  await api.post("/v1/webhooks", key, { url: receiver.url, events: ["connection.needs_reauth"] });
  const pathOf = (agent: string) => `/v1/agents/${agent}/connections`;
  return {
    api,
    key,
    connect: async ({ userId, login, browser }, agent = patientAgent) => {
      const path = pathOf(agent);
      const created = await api.post(path, key, { user_id: userId, tool: server });
      const { id, link } = (created.body as { data: { id: string; link: string } }).data;
      const { connectionId, code } = await clickConsent(browser, link, login, application.returnUrl);
      if (connectionId !== id) throw new Error(`${login} came back with another connection`);
      const confirmed = await api.post(`${path}/${id}/confirm`, key, { user_id: userId, code });
      return (confirmed.body as { data: Connection }).data;
    },
    findConnection: async ({ userId }) => {
      const { body } = await api.get(
        `${pathOf(patientAgent)}?${new URLSearchParams({ user_id: userId, tool: server })}`,
        key,
      );
      const [found] = (body as { data: Connection[] }).data;
      if (!found) throw new Error(`${userId} has no connection`);
      return found;
    },
  };
}
