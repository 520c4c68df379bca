import { onlineManager } from "@tanstack/react-query";

type Listener = () => void;
const refused = new Set<Listener>();

/** Registers a listener for 401 responses: the session has ended, or an agent's own settings ask for more than a session. */
export const onUnauthorized = (listener: Listener): void => void refused.add(listener);

export function noteAnswer(status: number): void {
  onlineManager.setOnline(true);
  if (status === 401) for (const listen of refused) listen();
}

/** Queries wait from now on. Stale ones run when the server answers again. */
export const noteNoAnswer = (): void => onlineManager.setOnline(false);
