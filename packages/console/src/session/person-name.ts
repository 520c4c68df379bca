import type { SignedIn, SignedInPerson } from "./session.ts";

export const personName = ({ name, email, subject }: SignedInPerson): string => name ?? email ?? subject;

/** Who acts: a person by name, or a key by its name. */
export const actorName = ({ session, key }: SignedIn): string =>
  session?.person ? personName(session.person) : `key ${key.name}`;
