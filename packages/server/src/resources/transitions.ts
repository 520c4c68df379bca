/**
 * A change of a row's status. Null means that the row does not exist: before it is inserted, or after it is deleted.
 */
export interface Transition<Status extends string | null> {
  readonly from: readonly Status[];
  readonly to: Status;
}

/**
 * Every change that the rows of a resource may make, by its cause. The database refuses all others
 * (`check_transition`).
 */
export type Transitions<Status extends string> = Readonly<Record<string, Transition<Status | null>>>;
