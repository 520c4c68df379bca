import { type AlertCase, repeat } from "../alert-case.ts";
import type { Installation } from "../installation.ts";

const userId = "ada";

const tool = (outside: string) => ({
  type: "http",
  name: "mailbox",
  description: "Reads the mailbox.",
  method: "GET",
  url: `${outside}/mails`,
  parameters: { type: "object" },
  connection: {
    account: "user",
    issuer: `${outside}/accounts`,
    client_id: "perch",
    return_urls: ["http://127.0.0.1:1/connected"],
  },
});

/** The address to which an answer redirects. */
function locationOf(response: Response): URL {
  const location = response.headers.get("location");
  if (!location) throw new Error(`${response.url} answers ${response.status} and leads nowhere`);
  return new URL(location, response.url);
}

/** Consents as a user's browser does, and confirms it. */
async function connectAccount({ tenant }: Installation, agent: string): Promise<void> {
  const { link } = await tenant.post(`agents/${agent}/connections`, { user_id: userId, tool: "mailbox" });
  const opened = await fetch(String(link), { method: "POST", redirect: "manual" });
  const cookie = opened.headers.getSetCookie().map((each) => each.split(";")[0]);
  const consented = await fetch(locationOf(opened), { redirect: "manual" });
  const back = await fetch(locationOf(consented), { redirect: "manual", headers: { cookie: cookie.join("; ") } });
  const { connection_id, code } = Object.fromEntries(locationOf(back).searchParams);
  await tenant.post(`agents/${agent}/connections/${connection_id}/confirm`, { user_id: userId, code });
}

export const connectionCases: readonly AlertCase[] = [
  {
    fault: "the token endpoint of a provider of connected accounts answers every call with 500",
    fires: { PerchConnectionsNotRefreshed: "wait for the provider" },
    cause: async (installation) => {
      const { outside, tenant } = installation;
      const steps = [{ tool_calls: [{ name: "mailbox", arguments: {} }] }, { reply: "done" }];
      await tenant.post("agents", {
        name: "mail-reader",
        model: "perch/script",
        instructions: JSON.stringify({ steps }),
        tools: [tool(outside.url)],
        limits: { timeout_seconds: 5 },
      });
      await connectAccount(installation, "mail-reader");
      outside.isAccountProviderDown = true;
      const end = repeat(500, () => tenant.start("mail-reader", { message: "hello", context: { user_id: userId } }));
      const repair = () => {
        outside.isAccountProviderDown = false;
      };
      return { repair, end };
    },
  },
];
