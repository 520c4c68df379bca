import { onlineManager } from "@tanstack/react-query";

type Listener = () => void;
const refused = new Set<Listener>();

/** Calls this whenever the server answers 401: nobody is signed in, or an agent's own settings ask for more than a session. */
export const onUnauthorized = (listener: Listener): void => void refused.add(listener);

export function noteAnswer(status: number): void {
  onlineManager.setOnline(true);
  if (status === 401) for (const listen of refused) listen();
}

/** Queries wait from here on, and those that are out of date run when the server answers again. */
export const noteNoAnswer = (): void => onlineManager.setOnline(false);
