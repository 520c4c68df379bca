import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark" | "system";

const storageKey = "perch.theme";

/** A theme is a person's own choice, so it stays in this browser and is not part of an address. */
export function readTheme(): Theme {
  const stored = localStorage.getItem(storageKey);
  return stored === "light" || stored === "dark" ? stored : "system";
}

const darkPreference = matchMedia("(prefers-color-scheme: dark)");

export function applyTheme(theme: Theme): void {
  const isDark = theme === "dark" || (theme === "system" && darkPreference.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
}

const listeners = new Set<() => void>();

export function storeTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, theme);
  applyTheme(theme);
  for (const listen of listeners) listen();
}

export const useTheme = (): Theme =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, readTheme);

darkPreference.addEventListener("change", () => applyTheme(readTheme()));
