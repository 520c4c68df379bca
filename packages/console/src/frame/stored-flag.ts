import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const readFlag = (name: string): boolean => localStorage.getItem(`perch.${name}`) === "yes";

/** A choice of this person in this browser: it is not part of an address. */
export function useStoredFlag(name: string): readonly [boolean, (value: boolean) => void] {
  const value = useSyncExternalStore(subscribe, () => readFlag(name));
  const store = (next: boolean) => {
    if (next) localStorage.setItem(`perch.${name}`, "yes");
    else localStorage.removeItem(`perch.${name}`);
    for (const listen of listeners) listen();
  };
  return [value, store];
}
