const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const anyId = /^([a-z]+)_([0-7][0-9a-hjkmnp-tv-z]{25})$/;

export interface PastedId {
  readonly prefix: string;
  readonly id: string;
  /** When it was made: an id begins with its time. */
  readonly createdAt: Date;
}

/** Reads a pasted id. Its first ten characters are the milliseconds since 1970, 5 bits each. */
export function readId(text: string): PastedId | undefined {
  const [id, prefix = "", suffix = ""] = anyId.exec(text.trim()) ?? [];
  if (id === undefined) return undefined;
  const ms = [...suffix.slice(0, 10)].reduce((sum, character) => sum * 32 + alphabet.indexOf(character), 0);
  return { prefix, id, createdAt: new Date(ms) };
}
