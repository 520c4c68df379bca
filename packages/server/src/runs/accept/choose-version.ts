import { draftLabel, type InvocationContext } from "@perch/contract";
import type { RunInput } from "../../engine/messages.ts";
import { forbidden, notFound } from "../../platform/api-error.ts";
import type { AgentRow } from "../../resources/agents/agent-queries.ts";
import { chooseArm } from "../../resources/deployments/deployment-rules.ts";
import type { ServingDirectory } from "../../resources/deployments/serving-directory.ts";
import type { RequestContext } from "../../resources/handlers.ts";

export type ChosenVersion = Pick<
  RunInput,
  "environment" | "version" | "deploymentId" | "trial" | "definition" | "definitionDigest"
>;

/**
 * The version to run: the one named in the request or the draft, else the one deployed to the environment, else the
 * agent's draft, as long as nothing was ever deployed there.
 */
export async function chooseVersion(
  serving: ServingDirectory,
  { caller, epoch }: Pick<RequestContext, "caller" | "epoch">,
  agent: AgentRow,
  {
    environment: givenEnvironment,
    version,
    session_id,
    userId,
  }: Omit<InvocationContext, "user_id"> & { readonly userId: string | null },
): Promise<ChosenVersion> {
  const environment = givenEnvironment ?? "production";
  const key = { organisationId: agent.organisation_id, agentId: agent.id };
  const alone = { environment, deploymentId: null, trial: null };
  const draft = async () => ({ ...alone, version: null, ...(await serving.nameDraft(agent)) });
  if (version !== undefined) {
    // It bypasses the deployed version, so it needs the permission to read versions.
    if (!caller.permissions.has("read"))
      throw forbidden("Choosing `context.version` needs a key with the permission read.");
    if (version === draftLabel) return draft();
    const named = await serving.findVersion(key, version, epoch);
    if (!named) throw notFound("version", version);
    return { ...alone, version, ...named };
  }
  if (serving.draftByDefault && givenEnvironment === undefined) return draft();
  const deployed = await serving.find(key, environment, epoch);
  if (!deployed) return draft();
  const who = { sessionId: session_id ?? null, userId };
  const arm = chooseArm(deployed, who, Math.random());
  return {
    environment,
    version: arm.version,
    deploymentId: arm.deploymentId,
    trial: deployed.canary?.guarded ? deployed.canary.deploymentId : null,
    ...arm.definition,
  };
}
