import type { ProviderType } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import type { ProviderSettings } from "../../outbound/models/provider-model.ts";
import type { Sealer } from "../../platform/secrets.ts";
import type { InstallationProvider } from "./installation-providers.ts";
import { openApiKey } from "./provider-keys.ts";
import { findProvider } from "./provider-queries.ts";

/** A provider, one of its models, and the way to it. */
export interface UsableProvider {
  readonly settings: ProviderSettings;
  /** The second half of `provider/model`. */
  readonly modelName: string;
  readonly fetch: typeof globalThis.fetch;
  /** Label of the call metrics. The names of organisations' own providers are not exposed there. */
  readonly metricLabel: string;
}

/** Undefined when the organisation has no such provider, or the provider does not have this model. */
export type FindUsableProvider = (organisationId: string, ref: string) => Promise<UsableProvider | undefined>;

export interface UsableProviderDeps {
  readonly db: Database;
  readonly installation: readonly InstallationProvider[];
  readonly providerKeys: Sealer;
  /** For addresses that an organisation gave. */
  readonly guardedFetch: typeof globalThis.fetch;
  /** For addresses that the operator gave: a model may well run beside the server. */
  readonly trustedFetch: typeof globalThis.fetch;
}

/**
 * Looks the provider up for every call, in one query by primary key: a changed or removed key takes effect with the next
 * call, and no secret becomes part of a run's journal.
 */
export function createFindUsableProvider(deps: UsableProviderDeps): FindUsableProvider {
  const { db, installation, providerKeys, guardedFetch, trustedFetch } = deps;

  const findOwnProvider = async (organisationId: string, name: string): Promise<InstallationProvider | undefined> => {
    const row = await db.inOrganisation(organisationId, (trx) => findProvider(trx, { organisationId }, name));
    if (!row) return undefined;
    const { base_url: baseUrl, models } = row;
    const apiKey = openApiKey(providerKeys, row.sealed_api_key, { organisationId, name, baseUrl });
    return { name, type: row.type as ProviderType, baseUrl, apiKey, models };
  };

  return async (organisationId, ref) => {
    const slash = ref.indexOf("/");
    const name = ref.slice(0, slash);
    const modelName = ref.slice(slash + 1);
    const ownProvider = name === "perch" ? undefined : await findOwnProvider(organisationId, name);
    const settings = ownProvider ?? installation.find((provider) => provider.name === name);
    if (!settings || (settings.models.length > 0 && !settings.models.includes(modelName))) return undefined;
    return {
      settings,
      modelName,
      fetch: ownProvider ? guardedFetch : trustedFetch,
      metricLabel: ownProvider ? "organisation" : name,
    };
  };
}
