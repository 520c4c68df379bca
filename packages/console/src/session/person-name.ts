import type { Me, SignedInPerson } from "@perch/sdk";

export const personName = ({ name, email, subject }: SignedInPerson): string => name ?? email ?? subject;

/** The name of the actor: a person, or a key. */
export const actorName = ({ session, key }: Me): string =>
  session?.person ? personName(session.person) : `key ${key.name}`;
