import { isDeepStrictEqual } from "node:util";
import { type ProviderOperationKey, tierLimits } from "@perch/contract";
import type { Caller } from "../../auth/caller.ts";
import type { Database } from "../../db/database.ts";
import { conflict, forbidden, invalid, notFound } from "../../platform/api-error.ts";
import { Unchanged } from "../../platform/change-results.ts";
import type { Sealer } from "../../platform/sealing.ts";
import { page, single } from "../envelopes.ts";
import type { Handlers } from "../handlers.ts";
import type { Quotas } from "../quotas/quotas.ts";
import { type InstallationProvider, listUsableModels } from "./installation-providers.ts";
import { toStoredApiKey } from "./provider-keys.ts";
import * as queries from "./provider-queries.ts";
import { toProvider } from "./to-provider.ts";

interface ProviderDeps {
  readonly db: Database;
  readonly installation: readonly InstallationProvider[];
  /** The models that need no provider, without `perch/`. */
  readonly builtInModels: readonly string[];
  readonly providerKeys: Sealer;
  readonly quotas: Quotas;
}

/** In the largest tier. */
const maxProviders = tierLimits.enterprise.providers;

function requireOrganisationKey({ onlyAgentId }: Caller): void {
  if (onlyAgentId !== null)
    throw forbidden("This key belongs to one agent. Manage model providers with an organisation's key.");
}

export const providerHandlers = ({ db, installation, builtInModels, providerKeys, quotas }: ProviderDeps) =>
  ({
    "GET /v1/models": ({ query }, { scope }) =>
      db.inOrganisation(scope.organisationId, async (trx) => {
        const own = await queries.listProviders(trx, scope, { limit: maxProviders, offset: 0, sort: "name" });
        const models = listUsableModels(builtInModels, installation, own);
        return page(models.slice(query.offset, query.offset + query.limit), query, models.length);
      }),

    "POST /v1/providers": async ({ body }, { caller, scope, change }) => {
      requireOrganisationKey(caller);
      const { name, type, base_url: baseUrl, models, api_key } = body;
      const storedKey = toStoredApiKey(providerKeys, api_key, { ...scope, name, baseUrl });
      return change(async (trx) => {
        await quotas.requireRoom(trx, caller.organisation, "providers");
        const row = await queries.insertProvider(trx, scope, { name, type, baseUrl, models, ...storedKey });
        if (!row) throw conflict(`There is a provider called ${JSON.stringify(name)} already. Change that one.`);
        return single(toProvider(row));
      });
    },

    "GET /v1/providers": ({ query }, { caller, scope }) => {
      requireOrganisationKey(caller);
      return db.inOrganisation(scope.organisationId, async (trx) => {
        const rows = await queries.listProviders(trx, scope, query);
        return page(rows.map(toProvider), query, await queries.countProviders(trx, scope));
      });
    },

    "GET /v1/providers/{provider_name}": async ({ params }, { caller, scope }) => {
      requireOrganisationKey(caller);
      const row = await db.inOrganisation(scope.organisationId, (trx) =>
        queries.findProvider(trx, scope, params.provider_name),
      );
      if (!row) throw notFound("provider", params.provider_name);
      return single(toProvider(row));
    },

    "PATCH /v1/providers/{provider_name}": async ({ params, body }, { caller, scope, change }) => {
      requireOrganisationKey(caller);
      return change(async (trx) => {
        const row = await queries.findProviderForUpdate(trx, scope, params.provider_name);
        if (!row) throw notFound("provider", params.provider_name);
        const { name } = row;
        const baseUrl = body.base_url === undefined ? row.base_url : body.base_url;
        if (baseUrl === null && row.type === "openai-compatible")
          throw invalid("base_url", "Required for openai-compatible");
        // A secret has hosts of its own, which no address of a provider can widen.
        if (baseUrl !== row.base_url && row.sealed_api_key !== null && body.api_key === undefined)
          throw invalid("api_key", "A new base_url needs the API key again, or null for none");
        const storedKey =
          body.api_key === undefined
            ? { sealedApiKey: row.sealed_api_key, apiKeySecret: row.api_key_secret }
            : toStoredApiKey(providerKeys, body.api_key, { ...scope, name, baseUrl });
        const changed = { baseUrl, models: body.models ?? row.models, ...storedKey };
        // An API key that is given is not compared with the stored one: that would answer guesses.
        const current = {
          baseUrl: row.base_url,
          models: row.models,
          sealedApiKey: row.sealed_api_key,
          apiKeySecret: row.api_key_secret,
        };
        if (isDeepStrictEqual(changed, current)) return new Unchanged(single(toProvider(row)));
        return single(toProvider(await queries.updateProvider(trx, scope, name, changed)));
      });
    },

    "DELETE /v1/providers/{provider_name}": async ({ params }, { caller, scope, change }) => {
      requireOrganisationKey(caller);
      return change(async (trx) => {
        const name = params.provider_name;
        if (!(await queries.deleteProvider(trx, scope, name))) throw notFound("provider", name);
        return single({ name, deleted: true as const });
      });
    },
  }) satisfies Handlers<ProviderOperationKey>;
