import type { ProviderType } from "@perch/contract";
import type { Database } from "../db/database.ts";
import { type Model, PermanentModelError } from "../models/model.ts";
import type { BuiltInModels } from "../models/models.ts";
import { createProviderModel, type ProviderSettings } from "../models/provider-model.ts";
import type { Sealer } from "../platform/secrets.ts";
import { type InstallationProvider, usableModels } from "./installation-providers.ts";
import { openApiKey } from "./provider-keys.ts";
import { findProvider, listProviders } from "./provider-queries.ts";

/** The model an organisation means by `provider/model`, ready to be called. */
export type FindModel = (organisationId: string, ref: string) => Promise<Model>;

interface FindModelDeps {
  readonly db: Database;
  readonly builtIn: BuiltInModels;
  readonly installation: readonly InstallationProvider[];
  readonly providerKeys: Sealer;
  /** For addresses that an organisation gave. */
  readonly guardedFetch: typeof globalThis.fetch;
  /** For addresses that the operator gave: a model may well run beside the server. */
  readonly trustedFetch: typeof globalThis.fetch;
  readonly silenceMs: number;
  /** The same model, timed under the name of its provider. */
  readonly timed: (provider: string, model: Model) => Model;
}

/**
 * Looks the provider up for every call, in one query by primary key: a key that was changed or taken away counts from the next
 * call on, and no secret is ever part of what a run carries with it.
 */
export function createFindModel(deps: FindModelDeps): FindModel {
  const { db, builtIn, installation, providerKeys, guardedFetch, trustedFetch, silenceMs, timed } = deps;

  const own = async (organisationId: string, name: string): Promise<InstallationProvider | undefined> => {
    const row = await db.inOrganisation(organisationId, (trx) => findProvider(trx, { organisationId }, name));
    if (!row) return undefined;
    const { base_url: baseUrl, models } = row;
    const apiKey = openApiKey(providerKeys, row.sealed_api_key, { organisationId, name, baseUrl });
    return { name, type: row.type as ProviderType, baseUrl, apiKey, models };
  };

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
    const slash = ref.indexOf("/");
    const name = ref.slice(0, slash);
    const modelName = ref.slice(slash + 1);
    const use = (provider: InstallationProvider | undefined, fetch: typeof globalThis.fetch): Model | undefined => {
      if (!provider || (provider.models.length > 0 && !provider.models.includes(modelName))) return undefined;
      return createProviderModel(provider satisfies ProviderSettings, modelName, { fetch, silenceMs });
    };
    const mine = name === "perch" ? undefined : await own(organisationId, name);
    const model = mine
      ? use(mine, guardedFetch)
      : use(
          installation.find((provider) => provider.name === name),
          trustedFetch,
        );
    if (!model) throw await unknown(organisationId, ref);
    // What organisations call their own providers is theirs alone.
    return timed(mine ? "organisation" : name, model);
  };
}
