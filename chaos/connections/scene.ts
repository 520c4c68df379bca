import type { Installation } from "./installation.ts";
import type { Connection, Person, Tenant } from "./users.ts";

/** What a part of the suite counted, and each thing that is not as promised, a line each. */
export interface Result {
  readonly figures: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

export interface Scene {
  readonly installation: Installation;
  readonly tenant: Tenant;
  readonly ada: Person;
  readonly bob: Person;
  /** Of both people, as they were connected. */
  readonly connections: { readonly ada: Connection; readonly bob: Connection };
}

export const unless = (isRight: boolean, problem: string): string[] => (isRight ? [] : [problem]);
