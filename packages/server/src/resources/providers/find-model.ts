import type { BuiltInModels } from "../../outbound/models/built-in-models.ts";
import { type Model, PermanentModelError } from "../../outbound/models/model.ts";
import { createProviderModel } from "../../outbound/models/provider-model.ts";
import { redactReply } from "../../outbound/models/redact-reply.ts";
import { listUsableModels } from "./installation-providers.ts";
import { listProviders } from "./provider-queries.ts";
import { createFindUsableProvider, type UsableProviderDeps } from "./usable-provider.ts";

/** The model an organisation means by `provider/model`, ready to be called. */
export type FindModel = (organisationId: string, ref: string) => Promise<Model>;

interface FindModelDeps extends UsableProviderDeps {
  readonly builtIn: BuiltInModels;
  readonly idleTimeoutMs: number;
  /** Wraps a model so that its calls are timed under this provider label. */
  readonly withTiming: (provider: string, model: Model) => Model;
}

export function createFindModel(deps: FindModelDeps): FindModel {
  const { db, builtIn, installation, idleTimeoutMs, withTiming } = deps;
  const findUsableProvider = createFindUsableProvider(deps);
  const builtInNames = Object.keys(builtIn).map((ref) => ref.slice("perch/".length));

  const unknownModelError = async (organisationId: string, ref: string): Promise<PermanentModelError> => {
    const ownProviders = await db.inOrganisation(organisationId, (trx) =>
      listProviders(trx, { organisationId }, { limit: 50, offset: 0, sort: "name" }),
    );
    const known = listUsableModels(builtInNames, installation, ownProviders).map(({ id }) => id);
    const shown = known.slice(0, 10).join(", ") + (known.length > 10 ? " and others (GET /v1/models)" : "");
    return new PermanentModelError(
      `There is no model ${ref} here. Use one of ${shown}, or add a provider: POST /v1/providers.`,
    );
  };

  return async (organisationId, ref) => {
    const known = builtIn[ref];
    if (known) return withTiming("perch", known);
    const found = await findUsableProvider(organisationId, ref);
    if (!found) throw await unknownModelError(organisationId, ref);
    const { settings, modelName, fetch, redactor, metricLabel } = found;
    const model = createProviderModel(settings, modelName, { fetch, idleTimeoutMs });
    return withTiming(metricLabel, (request) =>
      redactReply(redactor, request.onText, (onText) => model({ ...request, onText })),
    );
  };
}
