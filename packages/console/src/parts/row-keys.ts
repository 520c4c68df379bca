import type { KeyboardEvent } from "react";

const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** Arrows move between the links of rows, `a[data-row]`. If a row is open beside the list, moving opens the next one. */
export function moveThroughRows(event: KeyboardEvent<HTMLElement>): void {
  const step = moves[event.key];
  if (step === undefined || event.metaKey || event.ctrlKey || event.altKey) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>("a[data-row]")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = at === -1 ? undefined : rows[at + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
  if (rows.some((row) => row.hasAttribute("aria-current"))) next.click();
}
