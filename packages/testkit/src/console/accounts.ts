import type { Perch } from "../../../sdk/src/index.ts";
import { createBrowserJar } from "../browsers/browser-jar.ts";
import { walkConsent } from "../browsers/consent-walk.ts";
import { type AccountProvider, accountClients, startAccountProvider } from "../identity/account-provider.ts";

/** A provider where users have accounts, and an agent whose tool is called with them. */
export interface Accounts {
  readonly agent: string;
  /** A link for the user, not opened yet. */
  readonly invite: (userId: string) => Promise<string>;
  /** From a link to an account that runs use. */
  readonly connect: (userId: string) => Promise<string>;
  /** A run that calls the tool. */
  readonly use: (userId: string) => Promise<void>;
  /** The user withdraws the consent at the provider. */
  readonly withdraw: (userId: string) => void;
  readonly close: () => Promise<void>;
}

const returnUrl = "https://shop.example/connected";

const createAgent = (perch: Perch, agent: string, toolUrl: string, { issuer }: AccountProvider) =>
  perch.agents.create({
    name: agent,
    model: "perch/script",
    instructions: JSON.stringify({
      steps: [{ tool_calls: [{ name: "mailbox", arguments: {} }] }, { reply: "Your newest mail is about an order." }],
    }),
    tools: [
      {
        type: "http",
        name: "mailbox",
        description: "Lists the newest mails of the user.",
        method: "GET",
        url: toolUrl,
        parameters: { type: "object" },
        connection: {
          account: "user",
          issuer,
          client_id: accountClients.public.clientId,
          scopes: ["mail.read", "offline_access"],
          resource: toolUrl,
          return_urls: [returnUrl],
        },
      },
    ],
  });

export async function openAccounts(perch: Perch, perchUrl: string, toolUrl: string, agent: string): Promise<Accounts> {
  // Tokens that expire at once, so that the next run needs the provider again.
  const provider = await startAccountProvider({ perch: [perchUrl], accessTokenSeconds: 1 });
  await createAgent(perch, agent, toolUrl, provider);
  const createLink = (userId: string) => perch.connections.create(agent, { user_id: userId, tool: "mailbox" });
  return {
    agent,
    invite: async (userId) => (await createLink(userId)).id,
    connect: async (userId) => {
      const { id, link } = await createLink(userId);
      const back = new URL(await walkConsent(createBrowserJar(), link, { login: userId }));
      await perch.connections.confirm(agent, id, { user_id: userId, code: back.searchParams.get("code") ?? "" });
      return id;
    },
    use: async (userId) =>
      void (await perch.agents.invoke(agent, { message: "Any news?", context: { user_id: userId } })),
    withdraw: provider.revokeGrants,
    close: provider.stop,
  };
}
