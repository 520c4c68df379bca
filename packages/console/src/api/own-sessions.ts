import type { ConsoleSession } from "@perch/sdk";

type Owned = Pick<ConsoleSession, "id" | "current" | "person" | "key_id">;

/** Those of the same key or person in other browsers. Whoever may manage sees those of everybody, which are not meant. */
export function othersOfMine<T extends Owned>(sessions: readonly T[]): readonly T[] {
  const mine = sessions.find(({ current }) => current);
  if (!mine) return [];
  const isMine = ({ person, key_id }: Owned) =>
    mine.person ? person?.subject === mine.person.subject : !person && key_id === mine.key_id;
  // A session that began while the pages were read moves the last row of one to the next.
  const byId = new Map(sessions.map((session) => [session.id, session]));
  return [...byId.values()].filter((session) => !session.current && isMine(session));
}
