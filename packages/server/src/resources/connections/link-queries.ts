import { type Selectable, sql } from "kysely";
import type { ConsentRef } from "../../auth/connection-token.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { ConnectionLinks } from "../../db/generated-rows.ts";

export type LinkRow = Selectable<ConnectionLinks>;
/**
 * `created`: the link has not been opened. `opened`: a browser is at the provider. `returned`: it is back, with a code.
 * `confirming`: one request exchanges the provider's code.
 */
type LinkStatus = "created" | "opened" | "returned" | "confirming";

const minutesFromNow = (minutes: number) => sql<Date>`now() + make_interval(mins => ${minutes})`;

interface NewLink {
  readonly secretDigest: Buffer;
  readonly returnUrl: string;
  readonly sealedFlow: Buffer;
  readonly createdBy: string | null;
  readonly minutes: number;
}

/** Makes every earlier link of the connection void, wherever its user is with it. */
export async function replaceLink(
  trx: OrganisationTransaction,
  consent: ConsentRef,
  { secretDigest, returnUrl, sealedFlow, createdBy, minutes }: NewLink,
): Promise<Date> {
  await deleteLink(trx, consent);
  // So that housekeeping does not delete it until its user has had the time to consent.
  await trx
    .updateTable("connections")
    .set({ linked_at: sql<Date>`now()` })
    .where("organisation_id", "=", consent.organisationId)
    .where("id", "=", consent.connectionId)
    .where("status", "=", "pending")
    .execute();
  const { expires_at } = await trx
    .insertInto("connection_links")
    .values({
      organisation_id: consent.organisationId,
      connection_id: consent.connectionId,
      secret_digest: secretDigest,
      return_url: returnUrl,
      sealed_flow: sealedFlow,
      created_by: createdBy,
      expires_at: minutesFromNow(minutes),
    })
    .returning("expires_at")
    .executeTakeFirstOrThrow();
  return expires_at;
}

/** Begins to confirm, or ends it so that it can be tried again. A newer link stays as it is. */
export async function updateLinkStatus(
  trx: OrganisationTransaction,
  { organisation_id, connection_id, secret_digest }: LinkRow,
  status: "confirming" | "returned",
): Promise<void> {
  await trx
    .updateTable("connection_links")
    .set({ status })
    .where("organisation_id", "=", organisation_id)
    .where("connection_id", "=", connection_id)
    .where("secret_digest", "=", secret_digest)
    .execute();
}

const selectLink = (
  trx: OrganisationTransaction,
  { organisationId, connectionId }: ConsentRef,
  statuses: readonly LinkStatus[],
) =>
  trx
    .selectFrom("connection_links")
    .selectAll()
    .where("organisation_id", "=", organisationId)
    .where("connection_id", "=", connectionId)
    .where("status", "in", statuses)
    .where("expires_at", ">", sql<Date>`now()`);

/** Undefined if the consent is at another step, or took too long. */
export const findLink = (
  trx: OrganisationTransaction,
  consent: ConsentRef,
  ...statuses: readonly LinkStatus[]
): Promise<LinkRow | undefined> => selectLink(trx, consent, statuses).executeTakeFirst();

export const findLinkForUpdate = (
  trx: OrganisationTransaction,
  consent: ConsentRef,
  ...statuses: readonly LinkStatus[]
): Promise<LinkRow | undefined> => selectLink(trx, consent, statuses).forUpdate().executeTakeFirst();

interface NextStep {
  readonly status: "opened" | "returned";
  /** The digest of the secret for the next step. */
  readonly secretDigest: Buffer;
  readonly browserDigest: Buffer | null;
  readonly sealedFlow: Buffer;
  readonly minutes: number;
}

/** The row must be locked. */
export async function updateLink(
  trx: OrganisationTransaction,
  { organisationId, connectionId }: ConsentRef,
  { status, secretDigest, browserDigest, sealedFlow, minutes }: NextStep,
): Promise<void> {
  await trx
    .updateTable("connection_links")
    .set({
      status,
      secret_digest: secretDigest,
      browser_digest: browserDigest,
      sealed_flow: sealedFlow,
      expires_at: minutesFromNow(minutes),
    })
    .where("organisation_id", "=", organisationId)
    .where("connection_id", "=", connectionId)
    .execute();
}

/** Once it is confirmed, or cannot be. False if it is gone already; a newer link stays. */
export async function deleteConfirmedLink(
  trx: OrganisationTransaction,
  { organisation_id, connection_id, secret_digest }: LinkRow,
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("connection_links")
    .where("organisation_id", "=", organisation_id)
    .where("connection_id", "=", connection_id)
    .where("secret_digest", "=", secret_digest)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function deleteLink(
  trx: OrganisationTransaction,
  { organisationId, connectionId }: ConsentRef,
): Promise<void> {
  await trx
    .deleteFrom("connection_links")
    .where("organisation_id", "=", organisationId)
    .where("connection_id", "=", connectionId)
    .execute();
}
