export interface TimeLeft {
  /** "6 d 23 h", "9 min 12 s"; undefined when the time is over. */
  readonly text: string | undefined;
  readonly isShort: boolean;
}

const shortSeconds = 600;

/** The time until then in two units, so that the user sees it pass. */
export function timeLeft(until: Date, now: Date): TimeLeft {
  const seconds = Math.floor((until.getTime() - now.getTime()) / 1000);
  if (seconds <= 0) return { text: undefined, isShort: true };
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  const isShort = seconds < shortSeconds;
  if (days > 0) return { text: `${days} d ${hours} h`, isShort };
  if (hours > 0) return { text: `${hours} h ${minutes} min`, isShort };
  return { text: minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`, isShort };
}
