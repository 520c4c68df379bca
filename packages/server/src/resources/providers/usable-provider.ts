import type { ProviderType } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import { PermanentModelError } from "../../outbound/models/model.ts";
import { baseUrlOf, type ProviderSettings } from "../../outbound/models/provider-model.ts";
import { redactResponses } from "../../outbound/secrets/redact-responses.ts";
import { noRedaction, type Redactor } from "../../outbound/secrets/redactor.ts";
import { isRefusedCall, type ResolveCall } from "../../outbound/secrets/resolve-call.ts";
import type { Sealer } from "../../platform/sealing.ts";
import type { InstallationProvider } from "./installation-providers.ts";
import { openApiKey } from "./provider-keys.ts";
import { findProvider, type ProviderRow } from "./provider-queries.ts";

/** A provider, one of its models, and the way to it. */
export interface UsableProvider {
  readonly settings: ProviderSettings;
  /** The second half of `provider/model`. */
  readonly modelName: string;
  readonly fetch: typeof globalThis.fetch;
  /** Redacts its API key, if that is a secret of the organisation. */
  readonly redactor: Redactor;
  /** Label of the call metrics. The names of organisations' own providers are not exposed there. */
  readonly metricLabel: string;
}

/** Undefined when the organisation has no such provider, or the provider does not have this model. */
export type FindUsableProvider = (organisationId: string, ref: string) => Promise<UsableProvider | undefined>;

export interface UsableProviderDeps {
  readonly db: Database;
  readonly installation: readonly InstallationProvider[];
  readonly providerKeys: Sealer;
  readonly resolveCall: ResolveCall;
  /** For addresses that an organisation gave. */
  readonly guardedFetch: typeof globalThis.fetch;
  /** For addresses that the operator gave: a model may well run beside the server. */
  readonly trustedFetch: typeof globalThis.fetch;
}

interface OwnProvider extends InstallationProvider {
  readonly redactor: Redactor;
}

/** A key that is a secret is sent only to the secret's hosts, so the base URL must be at one of them. */
async function resolveApiKey(resolveCall: ResolveCall, organisationId: string, row: ProviderRow) {
  const { name, api_key_secret: secret } = row;
  const url = baseUrlOf({ type: row.type as ProviderType, baseUrl: row.base_url });
  // Without an address nothing is called: `validateSettings` refuses that.
  if (secret === null || url === null) return undefined;
  const headers = { key: `{{secret.${secret}}}` };
  try {
    // Providers belong to the organisation: the secrets of one agent are not theirs.
    const call = await resolveCall({ organisationId, agentId: null }, { subject: `Provider ${name}`, url, headers });
    return { apiKey: call.headers.key ?? null, redactor: call.redactor };
  } catch (error) {
    throw isRefusedCall(error) ? new PermanentModelError(error.message) : error;
  }
}

/**
 * Looks the provider up for every call, in one query by primary key: a changed or removed key takes effect with the next
 * call, and no secret becomes part of a run's journal.
 */
export function createFindUsableProvider(deps: UsableProviderDeps): FindUsableProvider {
  const { db, installation, providerKeys, resolveCall, guardedFetch, trustedFetch } = deps;

  const findOwnProvider = async (organisationId: string, name: string): Promise<OwnProvider | undefined> => {
    const row = await db.inOrganisation(organisationId, (trx) => findProvider(trx, { organisationId }, name));
    if (!row) return undefined;
    const { base_url: baseUrl, models } = row;
    const secret = await resolveApiKey(resolveCall, organisationId, row);
    const sealed = openApiKey(providerKeys, row.sealed_api_key, { organisationId, name, baseUrl });
    const { apiKey, redactor } = secret ?? { apiKey: sealed, redactor: noRedaction };
    return { name, type: row.type as ProviderType, baseUrl, apiKey, models, redactor };
  };

  return async (organisationId, ref) => {
    const slash = ref.indexOf("/");
    const name = ref.slice(0, slash);
    const modelName = ref.slice(slash + 1);
    const ownProvider = name === "perch" ? undefined : await findOwnProvider(organisationId, name);
    const settings = ownProvider ?? installation.find((provider) => provider.name === name);
    if (!settings || (settings.models.length > 0 && !settings.models.includes(modelName))) return undefined;
    const redactor = ownProvider?.redactor ?? noRedaction;
    return {
      settings,
      modelName,
      fetch: redactResponses(ownProvider ? guardedFetch : trustedFetch, redactor),
      redactor,
      metricLabel: ownProvider ? "organisation" : name,
    };
  };
}
