import type { Api } from "../api-client.ts";
import { runPerch } from "../perch-process.ts";
import type { Installation } from "./installation.ts";
import { agents, policies, questionTool } from "./plan.ts";

/** The keys of an organisation. The key that started a run does not decide on it. */
export interface Organisation {
  readonly invoker: string;
  readonly approvers: readonly [string, string];
}

const parameters = {
  type: "object",
  properties: { action: { type: "string" }, amount: { type: "number" } },
  required: ["action", "amount"],
};

const toolsAt = (url: string) => [
  ...Object.entries(policies).map(([name, approval]) => ({
    type: "http",
    name,
    description: "Pays an amount.",
    method: "POST",
    url: `${url}/${name}`,
    parameters,
    approval,
  })),
  { type: "ask_person", name: questionTool, description: "Asks the owner.", answer: { type: "string" } },
];

/** A fault may take minutes on a slow machine, and a run that ends at its own limit is not a lost one. */
const limits = { timeout_seconds: 600, max_concurrent_runs: 2000 };

async function createKey(api: Api, token: string, name: string, permission = "approve"): Promise<string> {
  const { body } = await api.post("/v1/keys", token, { name, permissions: ["read", permission] });
  return (body as { data: { key: string } }).data.key;
}

/** Organisations with an agent for each way to treat the next turn of a session that waits, and two approvers. */
export async function createOrganisations(
  { settings, payments }: Installation,
  api: Api,
  count: number,
): Promise<Organisation[]> {
  const create = async (_: unknown, i: number): Promise<Organisation> => {
    const names = ["create-organisation", "--name", `Approvals ${i + 1}`, "--tier", "enterprise"];
    const admin = await runPerch(settings, names);
    for (const name of agents) {
      const [, while_waiting] = name.split("-");
      const tools = toolsAt(payments.url);
      const agent = { name, model: "perch/script", limits, tools, approvals: { while_waiting } };
      await api.post("/v1/agents", admin, agent);
    }
    // A key that started a run may not leave the decision to a key that it made.
    const invoker = await createKey(api, admin, "app", "write");
    return { invoker, approvers: [await createKey(api, admin, "first"), await createKey(api, admin, "second")] };
  };
  return Promise.all(Array.from({ length: count }, create));
}
