import type { Me, SignedInPerson } from "@perch/sdk";

export const personName = ({ name, email, subject }: SignedInPerson): string => name ?? email ?? subject;

/** Who acts: a person by name, or a key by its name. */
export const actorName = ({ session, key }: Me): string =>
  session?.person ? personName(session.person) : `key ${key.name}`;
