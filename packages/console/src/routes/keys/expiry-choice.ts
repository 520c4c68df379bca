const dayMs = 86_400_000;

export const lifetimes = { "7": "7 days", "30": "30 days", "90": "90 days", "365": "a year" } as const;

/** `keep`: unchanged; `never`; a number of days; `at`: an own time. */
export interface ExpiryChoice {
  readonly choice: string;
  /** Local time, in the format of the browser's date field. */
  readonly at: string;
}

/** The value for a request: undefined changes nothing, null means never. An invalid time is left to the server to refuse. */
export function toExpiresAt({ choice, at }: ExpiryChoice, now: Date): string | null | undefined {
  if (choice === "keep") return undefined;
  if (choice === "never") return null;
  if (choice !== "at") return new Date(now.getTime() + Number(choice) * dayMs).toISOString();
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? at : time.toISOString();
}

/** Lifetimes that end before the caller's own key does, because no key can grant more than it has. */
export const lifetimesUntil = (callerEnds: string | null, now: Date): readonly string[] =>
  Object.keys(lifetimes).filter(
    (days) => callerEnds === null || now.getTime() + Number(days) * dayMs <= Date.parse(callerEnds),
  );
