import type { ProviderSortField, ProviderType } from "@perch/contract";
import { type Selectable, sql } from "kysely";
import type { Scope } from "../../auth/caller.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { ModelProviders } from "../../db/generated-rows.ts";
import { sortOrder } from "../envelopes.ts";

export type ProviderRow = Selectable<ModelProviders>;
type Owner = Pick<Scope, "organisationId">;

const own = (trx: OrganisationTransaction, { organisationId }: Owner) =>
  trx.selectFrom("model_providers").where("organisation_id", "=", organisationId);

export const findProvider = (trx: OrganisationTransaction, owner: Owner, name: string) =>
  own(trx, owner).selectAll().where("name", "=", name).executeTakeFirst();

export const findProviderForUpdate = (trx: OrganisationTransaction, owner: Owner, name: string) =>
  own(trx, owner).selectAll().where("name", "=", name).forUpdate().executeTakeFirst();

interface ProviderPage {
  readonly limit: number;
  readonly offset: number;
  readonly sort: ProviderSortField | `-${ProviderSortField}`;
}

export const listProviders = (trx: OrganisationTransaction, owner: Owner, { limit, offset, sort }: ProviderPage) => {
  const [field, direction] = sortOrder(sort);
  return own(trx, owner)
    .selectAll()
    .orderBy(field, direction)
    .orderBy("name", direction)
    .limit(limit)
    .offset(offset)
    .execute();
};

/** An organisation has some fifty at most. */
export async function countProviders(trx: OrganisationTransaction, owner: Owner): Promise<number> {
  const row = await own(trx, owner)
    .select((eb) => eb.fn.countAll<string>().as("providers"))
    .executeTakeFirstOrThrow();
  return Number(row.providers);
}

export interface NewProvider {
  readonly name: string;
  readonly type: ProviderType;
  readonly baseUrl: string | null;
  readonly models: readonly string[];
  readonly sealedApiKey: Buffer | null;
  /** The name of the secret in place of a sealed key. */
  readonly apiKeySecret?: string | null;
}

/** Undefined when the name is taken. */
export const insertProvider = (
  trx: OrganisationTransaction,
  { organisationId }: Owner,
  { name, type, baseUrl, models, sealedApiKey, apiKeySecret = null }: NewProvider,
): Promise<ProviderRow | undefined> =>
  trx
    .insertInto("model_providers")
    .values({
      organisation_id: organisationId,
      name,
      type,
      base_url: baseUrl,
      models: [...models],
      sealed_api_key: sealedApiKey,
      api_key_secret: apiKeySecret,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();

export const updateProvider = (
  trx: OrganisationTransaction,
  { organisationId }: Owner,
  name: string,
  { baseUrl, models, sealedApiKey, apiKeySecret }: Required<Omit<NewProvider, "name" | "type">>,
): Promise<ProviderRow> =>
  trx
    .updateTable("model_providers")
    .set({
      base_url: baseUrl,
      models: [...models],
      sealed_api_key: sealedApiKey,
      api_key_secret: apiKeySecret,
      updated_at: sql`now()`,
    })
    .where("organisation_id", "=", organisationId)
    .where("name", "=", name)
    .returningAll()
    .executeTakeFirstOrThrow();

export const deleteProvider = async (
  trx: OrganisationTransaction,
  { organisationId }: Owner,
  name: string,
): Promise<boolean> => {
  const { numDeletedRows } = await trx
    .deleteFrom("model_providers")
    .where("organisation_id", "=", organisationId)
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
};
