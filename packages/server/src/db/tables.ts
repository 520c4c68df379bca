/** A database function that deletes up to some number of rows that nothing needs any more. */
export interface Purge {
  readonly function: string;
  /** The step of housekeeping, if its name differs from the function's. */
  readonly step?: string;
  /** For how many days rows are stored, in the order of the function's intervals. docs/operations/capacity.md has them too. */
  readonly keptDays: readonly number[];
  /** How many rows are never deleted. */
  readonly keptRows?: number;
}

/**
 * The bound of a table's rows. `partitions` are dropped whole after the days in `partitioned_tables`; `fixed` is a
 * number of rows for each organisation, agent or other row; `handled` rows go when the work that they stand for is
 * done.
 */
type Bound =
  | { readonly bound: "partitions" | "quota" | "fixed" | "handled"; readonly purge?: Purge }
  | { readonly bound: "purge"; readonly purge: Purge };

/**
 * How the rows of a table are deleted. All that have an `organisation_id` go with their organisation, by the catalogue.
 */
export type Table = Bound & {
  /** The deletion of a purged agent's rows: a database function, or the bound. */
  readonly agent?: "purge_agent" | "bound";
  /**
   * The erasure of each column that can name a user: a database function or a stage of the erasure; or why it needs
   * none.
   */
  readonly users?: Readonly<Record<string, { readonly by: string } | { readonly kept: string }>>;
};

export type Tables = Readonly<Record<string, Table>>;
