import { type Agent, agentDefaults } from "@perch/contract";
import type { AgentRow } from "../agents/agent-queries.ts";
import { storedDefinition } from "../agents/to-agent.ts";
import type { ServingDirectory } from "../deployments/serving-directory.ts";
import type { RequestContext } from "../handlers.ts";

interface ServedTools {
  readonly tools: Agent["tools"];
  /** The owner of these tools, in words. */
  readonly where: string;
}

/**
 * The tools that an invoke of this environment would use: the live version's, or the draft's if nothing is deployed.
 */
export async function findServedTools(
  serving: Pick<ServingDirectory, "find" | "draftByDefault">,
  agent: AgentRow,
  { epoch }: Pick<RequestContext, "epoch">,
  given: string | undefined,
): Promise<ServedTools> {
  const key = { organisationId: agent.organisation_id, agentId: agent.id };
  const environment = given ?? "production";
  const isDraft = serving.draftByDefault && given === undefined;
  const deployed = isDraft ? undefined : await serving.find(key, environment, epoch);
  const { definition } = deployed ? deployed.live.definition : storedDefinition(agent);
  const where = deployed ? `version ${deployed.live.version} (live in ${environment})` : "the draft";
  return { tools: definition.tools ?? agentDefaults.tools, where };
}
