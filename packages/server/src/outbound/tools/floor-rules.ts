import { type AgentDefinition, type SecuritySettings, secretNamesIn } from "@perch/contract";
import type { ApprovalFloor } from "../../platform/approval-floor.ts";

type DefinedTool = AgentDefinition["tools"][number];

/** One spelling for each host: as it is called, without the dot that may end it. */
const hostnameOf = (url: string): string | undefined => URL.parse(url)?.hostname.replace(/\.$/, "");

const secretsByTool = new WeakMap<DefinedTool, readonly string[]>();

/** The secrets that calls of an HTTP tool carry. Nothing else is sent one that needs approval. */
export function secretsOfTool(tool: DefinedTool): readonly string[] {
  if (tool.type !== "http") return [];
  // Definitions are cached, and run many times.
  const known = secretsByTool.get(tool);
  if (known) return known;
  const names = secretNamesIn(JSON.stringify([tool.headers, tool.query]));
  secretsByTool.set(tool, names);
  return names;
}

/**
 * Why every call of a tool needs a person; undefined if the floor leaves that to the definition. `listed` is an MCP server's own name
 * for the tool. An address whose host cannot be read counts as one of the floor's.
 */
export function whyUnderFloor(
  floor: ApprovalFloor | undefined,
  tool: DefinedTool,
  listed: string = tool.name,
): string | undefined {
  if (!floor || tool.type === "ask_person") return undefined;
  // As the definition, the server and the model name it.
  if ([tool.name, listed, `${tool.name}_${listed}`].some((name) => floor.tools.includes(name)))
    return "The agent's security settings ask for approval of every call of this tool.";
  const host = hostnameOf(tool.url);
  if (floor.hosts.length > 0 && (host === undefined || floor.hosts.includes(host)))
    return "The agent's security settings ask for approval of every call to this host.";
  const secret = secretsOfTool(tool).find((name) => floor.secrets.includes(name));
  return secret && `The secret ${secret} asks for approval of every call that uses it.`;
}

/** Whether the floor may reach calls of a tool. What an MCP server calls its tools is not known before the run. */
const mayReach = (floor: ApprovalFloor, tool: DefinedTool): boolean =>
  whyUnderFloor(floor, tool) !== undefined || (tool.type === "mcp" && floor.tools.length > 0);

const hostsOf = ({ approvals }: SecuritySettings): string[] =>
  (approvals?.hosts ?? []).map((host) => hostnameOf(`https://${host}`) ?? host);

/** Whether a remote agent is at a host of which a person approves every call, for which it could not wait. */
export const isRemoteUnderFloor = (
  { runtime }: Pick<AgentDefinition, "runtime">,
  security: SecuritySettings,
): boolean => {
  if (runtime.type === "model" || !security.approvals) return false;
  const host = hostnameOf(runtime.url);
  const hosts = hostsOf(security);
  return hosts.length > 0 && (host === undefined || hosts.includes(host));
};

/** The floor of a run. Undefined if it reaches none of its tools. A remote agent has tools of its own. */
export function floorOf(
  { runtime, tools }: Pick<AgentDefinition, "runtime" | "tools">,
  security: SecuritySettings,
  secrets: readonly string[],
): ApprovalFloor | undefined {
  const { approvals } = security;
  if (runtime.type !== "model" || (!approvals && secrets.length === 0)) return undefined;
  const floor = { tools: approvals?.tools ?? [], hosts: hostsOf(security), secrets };
  return tools.some((tool) => mayReach(floor, tool)) ? floor : undefined;
}
