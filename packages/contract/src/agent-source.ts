import type { Operation } from "./operation.ts";

/**
 * How an operation names its agent, whose settings then apply: the path, the body or the query names it, or the
 * webhook, the event, the key or the approval in the path belongs to it. `listed`: it shows resources of several
 * agents. `none`: it concerns no agent.
 */
export type AgentSource = "path" | "body" | "query" | AgentResource | "listed" | "none";

const resources = ["webhook", "event", "key", "approval"] as const;
/** Resources that may belong to an agent without being below it in the path. */
export type AgentResource = (typeof resources)[number];

export const isAgentResource = (source: AgentSource): source is AgentResource =>
  (resources as readonly string[]).includes(source);

export function agentSourceOf({ id, params, body, query, agents }: Operation): AgentSource {
  if (params?.shape.agent_id) return "path";
  const resource = resources.find((each) => params?.shape[`${each}_id`]);
  if (resource) return resource;
  if (body?.shape.agent_id) return "body";
  if (query?.shape.agent_id) return "query";
  if (agents) return agents;
  throw new Error(`${id} does not say which agent it is about: let it name one, or state \`agents\`.`);
}
