import type { Installation } from "./installation.ts";
import type { Connection, Person, Tenant } from "./users.ts";

/** The counts of one part of the suite, and a line for each broken promise. */
export interface Result {
  readonly figures: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

export interface Scene {
  readonly installation: Installation;
  readonly tenant: Tenant;
  readonly ada: Person;
  readonly bob: Person;
  /** The connections of both users, as they were made. */
  readonly connections: { readonly ada: Connection; readonly bob: Connection };
}

export const unless = (isRight: boolean, problem: string): string[] => (isRight ? [] : [problem]);
