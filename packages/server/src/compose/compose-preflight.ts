import { actFor } from "../fairness/acting-organisation.ts";
import { builtInModels, createBuiltInModels } from "../outbound/models/built-in-models.ts";
import { createTools } from "../outbound/tools/tools.ts";
import { version } from "../platform/version.ts";
import { checkApprovals, checkApprovalsOfServer } from "../resources/approvals/approval-check-rules.ts";
import { createCheckConnection } from "../resources/deployments/check-connection.ts";
import { createPreflight, type Preflight } from "../resources/deployments/preflight.ts";
import { createFindModel, type FindModel } from "../resources/providers/find-model.ts";
import { composeFindToken } from "./connections.ts";
import type { Core } from "./core.ts";
import { composeSignedFetch } from "./signing.ts";

/** The models that need no provider, without `perch/`. */
export const listBuiltInModels = ({ config }: Pick<Core, "config">): readonly string[] => builtInModels(config);

export const composeFindModel = ({ config, db, keys, outbound, telemetry }: Core): FindModel =>
  createFindModel({
    db,
    builtIn: createBuiltInModels(config),
    installation: config.providers,
    providerKeys: keys.providerKeys,
    resolveCall: outbound.resolveCall,
    guardedFetch: outbound.guarded.fetch,
    trustedFetch: outbound.trusted.fetch,
    idleTimeoutMs: config.modelIdleTimeoutSeconds * 1000,
    withTiming: telemetry.timeModel,
  });

/**
 * Checks an agent: on a worker before a deployment, and on an API node on request. Both call through the guarded
 * client.
 */
export function composePreflight(core: Core): Preflight {
  const fetch = composeSignedFetch(core);
  const { findSecrets, resolveCall, createRedactor, oauth } = core.outbound;
  // A check uses no user's account, so that none of them can turn out to be refused.
  const findToken = composeFindToken(core, () => undefined);
  const tools = createTools({ fetch, version, resolveCall, createRedactor, findToken });
  const { publicUrl } = core.config;
  const checkConnection = createCheckConnection({ oauth, findSecrets, findToken, publicUrl });
  const check = createPreflight({
    findModel: composeFindModel(core),
    tools,
    findSecrets,
    checkConnection,
    toolRules: { check: checkApprovals, checkListed: checkApprovalsOfServer },
    fetch,
  });
  return (agent, ...rest) => actFor(agent.organisationId, () => check(agent, ...rest));
}
