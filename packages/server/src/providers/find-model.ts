import { type Model, PermanentModelError } from "../models/model.ts";
import type { BuiltInModels } from "../models/models.ts";
import { createProviderModel } from "../models/provider-model.ts";
import { usableModels } from "./installation-providers.ts";
import { listProviders } from "./provider-queries.ts";
import { createFindUsableProvider, type UsableProviderDeps } from "./usable-provider.ts";

/** The model an organisation means by `provider/model`, ready to be called. */
export type FindModel = (organisationId: string, ref: string) => Promise<Model>;

interface FindModelDeps extends UsableProviderDeps {
  readonly builtIn: BuiltInModels;
  readonly silenceMs: number;
  /** The same model, timed under the name of its provider. */
  readonly timed: (provider: string, model: Model) => Model;
}

export function createFindModel(deps: FindModelDeps): FindModel {
  const { db, builtIn, installation, silenceMs, timed } = deps;
  const findUsableProvider = createFindUsableProvider(deps);

  const unknown = async (organisationId: string, ref: string): Promise<PermanentModelError> => {
    const mine = await db.inOrganisation(organisationId, (trx) =>
      listProviders(trx, { organisationId }, { limit: 50, offset: 0, sort: "name" }),
    );
    const known = usableModels(installation, mine).map(({ id }) => id);
    const shown = known.slice(0, 10).join(", ") + (known.length > 10 ? " and others (GET /v1/models)" : "");
    return new PermanentModelError(
      `There is no model ${ref} here. Use one of ${shown}, or add a provider: POST /v1/providers.`,
    );
  };

  return async (organisationId, ref) => {
    const known = builtIn[ref];
    if (known) return timed("perch", known);
    const found = await findUsableProvider(organisationId, ref);
    if (!found) throw await unknown(organisationId, ref);
    const { settings, modelName, fetch, timedAs } = found;
    return timed(timedAs, createProviderModel(settings, modelName, { fetch, silenceMs }));
  };
}
