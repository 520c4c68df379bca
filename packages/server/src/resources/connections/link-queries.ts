import { type Selectable, sql } from "kysely";
import type { ConsentRef } from "../../auth/connection-token.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { ConnectionLinks } from "../../db/generated-rows.ts";

export type LinkRow = Selectable<ConnectionLinks>;
/** `created`: a link that nobody has opened. `opened`: a browser is at the provider. `returned`: it is back, with a code. */
type LinkStatus = "created" | "opened" | "returned";

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
  // So that housekeeping leaves it alone until its user had the time to consent.
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

/** For a step that could not be finished and can be repeated. A newer link stays. */
export async function restoreLink(trx: OrganisationTransaction, row: LinkRow): Promise<void> {
  await trx
    .insertInto("connection_links")
    .values(row)
    .onConflict((conflict) => conflict.columns(["organisation_id", "connection_id"]).doNothing())
    .execute();
}

const selectLink = (trx: OrganisationTransaction, { organisationId, connectionId }: ConsentRef, status: LinkStatus) =>
  trx
    .selectFrom("connection_links")
    .selectAll()
    .where("organisation_id", "=", organisationId)
    .where("connection_id", "=", connectionId)
    .where("status", "=", status)
    .where("expires_at", ">", sql<Date>`now()`);

/** Undefined if the consent is at another step, or took too long. */
export const findLink = (
  trx: OrganisationTransaction,
  consent: ConsentRef,
  status: LinkStatus,
): Promise<LinkRow | undefined> => selectLink(trx, consent, status).executeTakeFirst();

export const findLinkForUpdate = (
  trx: OrganisationTransaction,
  consent: ConsentRef,
  status: LinkStatus,
): Promise<LinkRow | undefined> => selectLink(trx, consent, status).forUpdate().executeTakeFirst();

interface NextStep {
  readonly status: "opened" | "returned";
  /** Of what is good for the next step. */
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
