import type { Secret, SecretSortField } from "@perch/contract";
import { type Kysely, type Selectable, sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { DB, Secrets } from "../../db/generated-rows.ts";
import type { SecretOwner } from "../../outbound/secrets/find-secrets.ts";
import { sortOrder } from "../envelopes.ts";

export type SecretRow = Selectable<Secrets>;

const ownedBy = ({ organisationId, agentId }: SecretOwner) =>
  sql<boolean>`organisation_id = ${organisationId} and ${agentId === null ? sql`agent_id is null` : sql`agent_id = ${agentId}`}`;

const selectOwn = (trx: OrganisationTransaction, owner: SecretOwner) => trx.selectFrom("secrets").where(ownedBy(owner));

export const findSecret = (
  trx: OrganisationTransaction,
  owner: SecretOwner,
  name: string,
): Promise<SecretRow | undefined> => selectOwn(trx, owner).selectAll().where("name", "=", name).executeTakeFirst();

/** Locks the row until the transaction ends, so that changes to one secret are serialised. */
export const findSecretForUpdate = (
  trx: OrganisationTransaction,
  owner: SecretOwner,
  name: string,
): Promise<SecretRow | undefined> =>
  selectOwn(trx, owner).selectAll().where("name", "=", name).forUpdate().executeTakeFirst();

interface SecretPage {
  readonly limit: number;
  readonly offset: number;
  readonly sort: SecretSortField | `-${SecretSortField}`;
}

export const listSecrets = (
  trx: OrganisationTransaction,
  owner: SecretOwner,
  { limit, offset, sort }: SecretPage,
): Promise<SecretRow[]> => {
  const [field, direction] = sortOrder(sort);
  return selectOwn(trx, owner)
    .selectAll()
    .orderBy(field, direction)
    .orderBy("name", direction)
    .limit(limit)
    .offset(offset)
    .execute();
};

/** An organisation has five thousand at most. */
export async function countSecrets(trx: OrganisationTransaction, owner: SecretOwner): Promise<number> {
  const row = await selectOwn(trx, owner)
    .select((eb) => eb.fn.countAll<string>().as("secrets"))
    .executeTakeFirstOrThrow();
  return Number(row.secrets);
}

interface NewSecret {
  readonly name: string;
  readonly hosts: readonly string[];
  readonly approval: Secret["approval"];
  readonly sealedValue: Buffer;
  readonly createdBy: string | null;
}

/** Undefined when the name is taken. */
export const insertSecret = (
  trx: OrganisationTransaction,
  { organisationId, agentId }: SecretOwner,
  { name, hosts, approval, sealedValue, createdBy }: NewSecret,
): Promise<SecretRow | undefined> =>
  trx
    .insertInto("secrets")
    .values({
      organisation_id: organisationId,
      agent_id: agentId,
      name,
      hosts: [...hosts],
      approval,
      sealed_value: sealedValue,
      created_by: createdBy,
      updated_by: createdBy,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();

interface SecretChange {
  readonly hosts: readonly string[];
  readonly approval: string | null;
  readonly sealedValue: Buffer;
  readonly updatedBy: string | null;
}

export const updateSecret = (
  trx: OrganisationTransaction,
  owner: SecretOwner,
  name: string,
  { hosts, approval, sealedValue, updatedBy }: SecretChange,
): Promise<SecretRow> =>
  trx
    .updateTable("secrets")
    .set({ hosts: [...hosts], approval, sealed_value: sealedValue, updated_by: updatedBy, updated_at: sql`now()` })
    .where(ownedBy(owner))
    .where("name", "=", name)
    .returningAll()
    .executeTakeFirstOrThrow();

export const deleteSecret = async (
  trx: OrganisationTransaction,
  owner: SecretOwner,
  name: string,
): Promise<boolean> => {
  const { numDeletedRows } = await trx
    .deleteFrom("secrets")
    .where(ownedBy(owner))
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
};

export const deleteSecretsOfAgent = async (
  trx: OrganisationTransaction,
  owner: { readonly organisationId: string; readonly agentId: string },
): Promise<void> => {
  await trx.deleteFrom("secrets").where(ownedBy(owner)).execute();
};

export type UsableSecret = Pick<
  SecretRow,
  "organisation_id" | "agent_id" | "name" | "sealed_value" | "hosts" | "approval" | "last_used_at"
>;

/**
 * Those that an agent can use under these names: its own before the organisation's. Without an agent, the organisation's. One statement,
 * because every call that carries a secret waits for it.
 */
export async function listUsableSecrets(
  db: Kysely<DB>,
  { organisationId, agentId }: SecretOwner,
  names: readonly string[],
): Promise<UsableSecret[]> {
  const { rows } = await sql<UsableSecret>`
    select * from find_secrets_with_approval(${organisationId}, ${agentId}, ${[...names]}::text[])`.execute(db);
  return rows;
}

/** Which of these names stand, for this agent, for a secret that needs approval. */
export async function listSecretsWithApproval(
  trx: OrganisationTransaction,
  { organisationId, agentId }: SecretOwner,
  names: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from (select distinct on (name) name, approval from secrets
                        where organisation_id = ${organisationId} and name = any (${[...names]}::text[])
                          and (agent_id is null or agent_id = ${agentId})
                        order by name, agent_id nulls last) used
      where approval = 'required'`.execute(trx);
  return rows.map(({ name }) => name);
}

/** Skips rows that others are changing, so that it never waits and others do not wait long for it. */
export const updateSecretsLastUsedAt = async (
  trx: OrganisationTransaction,
  organisationId: string,
  used: readonly Pick<SecretRow, "name" | "agent_id">[],
  { at, unlessSince }: { readonly at: Date; readonly unlessSince: Date },
): Promise<void> => {
  const agentIds = used.map(({ agent_id }) => agent_id);
  const names = used.map(({ name }) => name);
  await sql`
    update secrets s set last_used_at = ${at}
      from (select organisation_id, agent_id, name from secrets
              where organisation_id = ${organisationId}
                and exists (select from unnest(${agentIds}::uuid[], ${names}::text[]) u (agent_id, name)
                              where u.name = secrets.name and u.agent_id is not distinct from secrets.agent_id)
                and (last_used_at is null or last_used_at < ${unlessSince})
              for update skip locked) due
      where s.organisation_id = due.organisation_id and s.name = due.name and s.agent_id is not distinct from due.agent_id`.execute(
    trx,
  );
};
