import { onlineManager } from "@tanstack/react-query";

type Listener = () => void;
const signedOut = new Set<Listener>();

/** Calls this whenever the server says that nobody is signed in. */
export const onSignedOut = (listener: Listener): void => void signedOut.add(listener);

export function noteAnswer(status: number): void {
  onlineManager.setOnline(true);
  if (status === 401) for (const listen of signedOut) listen();
}

/** Queries wait from here on, and those that are out of date run when the server answers again. */
export const noteNoAnswer = (): void => onlineManager.setOnline(false);
