import type { Provider, ProviderType } from "@perch/contract";
import type { ProviderRow } from "./provider-queries.ts";

/** Field by field, so that nothing sealed can slip into an answer. */
export const toProvider = (row: ProviderRow): Provider => ({
  name: row.name,
  type: row.type as ProviderType,
  base_url: row.base_url,
  models: row.models,
  api_key_set: row.sealed_api_key !== null || row.api_key_secret !== null,
  api_key_secret: row.api_key_secret,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
