/** A message that was copied from a run, to be changed and sent again. */
export interface Edit {
  readonly runId: string | undefined;
  /** The session of that run, if it had one. */
  readonly session: string | undefined;
  /** Sends the message as the next one of that session, instead of the first of a new one. */
  readonly continues: boolean;
}

export const newSessionId = (): string =>
  `playground-${Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;

/** Each side has its own session, so that neither model sees the other's messages. */
export const sessionOfSide = (session: string, compared: string): string => `${session} vs ${compared}`;

/** The session that the next message is sent in. */
export function nextSession(current: string | undefined, edit: Edit | undefined): { id: string; isNew: boolean } {
  const continued = edit === undefined ? current : edit.continues ? edit.session : undefined;
  return continued === undefined ? { id: newSessionId(), isNew: true } : { id: continued, isNew: false };
}
