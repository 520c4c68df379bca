import { useSyncExternalStore } from "react";

let isEnded = false;
const listeners = new Set<() => void>();

/** Whether the session has ended under a page that stays because something in it is not saved. */
export function setSessionEnded(ended: boolean): void {
  if (ended === isEnded) return;
  isEnded = ended;
  for (const listen of listeners) listen();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const useIsSessionEnded = (): boolean => useSyncExternalStore(subscribe, () => isEnded);
