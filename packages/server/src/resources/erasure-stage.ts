import type { ErasedPart } from "@perch/contract";
import type { OrganisationTransaction } from "../db/database.ts";

/** The user whose data is erased, as far as it was accepted until `until`. */
export interface ErasedUser {
  readonly organisationId: string;
  readonly userId: string;
  readonly until: Date;
  /** They mark data of the user, and answers that show a run of the user, without naming the user. */
  readonly digests: { readonly user: Buffer; readonly runs: Buffer };
}

/** After which row a stage goes on; absent at its beginning. */
export interface Position {
  readonly agentId?: string;
  readonly at?: string;
  readonly id?: string;
}

/** How much was removed, by part of the receipt. */
export type Counts = Readonly<Record<string, number>>;

/**
 * The result of one transaction, and the position at which the stage continues. Without a position the stage is over.
 */
export interface Done {
  readonly counts: Counts;
  readonly position?: Position | undefined;
}

/** One part of an erasure. It may be repeated at any point: its progress commits with its work. */
export interface EraseStage {
  /** Stored with erasures under way: never change one. */
  readonly name: string;
  /** Work before the transaction, such as calls to providers. Its result is passed on. */
  readonly prepare?: (user: ErasedUser) => Promise<unknown>;
  readonly erase: (
    trx: OrganisationTransaction,
    user: ErasedUser,
    position: Position,
    prepared: never,
  ) => Promise<Done>;
}

/** The erasure of a user's data in a resource. */
export interface Erasure {
  /** In their order. */
  readonly stages?: (deps: never) => readonly EraseStage[];
  /** The receipt's text for each part that is counted. The names are stored. */
  readonly receipt: Readonly<Record<string, Omit<ErasedPart, "count">>>;
}

/** The error of deliveries that were not made any more. */
export const erasedDeliveryError = "Its user was erased.";

/** Small enough that a transaction that reads so many rows stays far below the limit of a statement. */
export const scannedRows = 10_000;

export const beginning = new Date(0).toISOString();
export const firstUuid = "00000000-0000-0000-0000-000000000000";

/** The result of a function that reads the next rows in their order. */
export interface LastRow {
  readonly entries: number;
  readonly last_at: Date | null;
  readonly last_id: string | null;
}

/** Undefined if fewer rows were left than could be read. */
export const positionAfter = ({ entries, last_at, last_id }: LastRow): Position | undefined =>
  entries === scannedRows && last_at && last_id ? { at: last_at.toISOString(), id: last_id } : undefined;
