import type { ConsoleSession } from "@perch/sdk";

type Owned = Pick<ConsoleSession, "id" | "current" | "person" | "key_id">;

/**
 * The caller's other sessions: same key or same person, other browsers. With `manage` the list also contains other people's, which are left
 * out.
 */
export function othersOfMine<T extends Owned>(sessions: readonly T[]): readonly T[] {
  const mine = sessions.find(({ current }) => current);
  if (!mine) return [];
  const isMine = ({ person, key_id }: Owned) =>
    mine.person ? person?.subject === mine.person.subject : !person && key_id === mine.key_id;
  // A session that began while the pages were read moves the last row of one to the next.
  const byId = new Map(sessions.map((session) => [session.id, session]));
  return [...byId.values()].filter((session) => !session.current && isMine(session));
}
