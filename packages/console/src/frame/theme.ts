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

export function storeTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, theme);
  applyTheme(theme);
}

darkPreference.addEventListener("change", () => applyTheme(readTheme()));
