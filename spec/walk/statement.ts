import type { World } from "./world.ts";

/** How a statement differs from its words, and the decision record with the reason. */
export interface Departure {
  readonly differs: string;
  readonly decision: number;
}

/** One checkable sentence, table row or value of docs/specification.md. */
export interface Statement {
  readonly id: string;
  /** The words of the specification, shortened. */
  readonly says: string;
  /** Throws if the live server does not do what the words say or, with `departure`, what was decided. */
  readonly check: (world: World) => Promise<void>;
  readonly departure?: Departure;
  /** Needs features that only the walk's own server has: other tiers, TLS, its database, a receiver it can reach. */
  readonly needsOwnServer?: true;
}

export interface Section {
  /** The heading in the specification. */
  readonly title: string;
  readonly statements: readonly Statement[];
}

type Check = Statement["check"];

export const statement = (id: string, says: string, check: Check): Statement => ({ id, says, check });

export const onOwnServer = (id: string, says: string, check: Check): Statement => ({
  id,
  says,
  check,
  needsOwnServer: true,
});

/** A statement that holds only as a decision changed it. `check` then tests exactly what was decided. */
export const decided = (id: string, says: string, departure: Departure, check: Check): Statement => ({
  id,
  says,
  check,
  departure,
});
