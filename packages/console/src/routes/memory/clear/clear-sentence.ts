/** The limits of a clear; an undefined one does not limit it. */
export interface ClearLimits {
  readonly user: string | undefined;
  readonly session: string | undefined;
  readonly before: Date | undefined;
}

/** A time of the browser's date field, which is in the reader's time zone. */
const timeOrNone = (text: string): Date | undefined => {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
};

/** Ids are taken as they were sent: ` 42` is another user than `42`. */
export const toLimits = (typed: Readonly<Record<keyof ClearLimits, string>>): ClearLimits => ({
  user: typed.user || undefined,
  session: typed.session || undefined,
  before: timeOrNone(typed.before),
});

export const isWhole = ({ user, session, before }: ClearLimits): boolean =>
  user === undefined && session === undefined && before === undefined;

/** A sentence about the memories that will go and those that will stay. */
export function clearSentence(agent: string, limits: ClearLimits, showTime: (at: Date) => string): string {
  const { user, session, before } = limits;
  if (isWhole(limits)) return `All memories and session messages of agent ${agent}, of all its users, will be deleted.`;
  const stored = before ? ` that were last stored before ${showTime(before)}` : "";
  const whose = [user !== undefined && `of user ${user}`, session !== undefined && `in session ${session}`]
    .filter(Boolean)
    .join(" ");
  const stay = [
    user !== undefined && "of other users",
    session !== undefined && "of other sessions",
    before !== undefined && "that are newer",
  ].filter((each) => each !== false);
  const what = ["All memories and session messages", whose, `of agent ${agent}`].filter(Boolean).join(" ");
  return `${what}${stored} will be deleted. Memories ${stay.join(" and ")} stay.`;
}
