import { useReducer, useRef } from "react";
import { hasJustChanged } from "../api/own-changes.ts";
import { countNewRows } from "./new-rows.ts";

export interface Place<T> {
  /** The identity of the list. With other filters the list begins anew. */
  readonly listing: string;
  readonly idOf: (row: T) => string;
}

interface KeptPlace<T> {
  readonly shown: readonly T[];
  readonly newCount: number;
  readonly showNew: () => void;
}

/**
 * The rows of a list with the newest first, without those that arrived while the user looks at it, because they would push the others away.
 * Rows that this tab created are shown at once, and so is everything until the list is read anew.
 */
export function useKeptPlace<T>(rows: readonly T[], isFresh: boolean, place: Place<T> | undefined): KeptPlace<T> {
  const seen = useRef<{ readonly listing: string | undefined; readonly ids: Set<string> }>(undefined);
  const [, showAgain] = useReducer((times: number) => times + 1, 0);
  if (seen.current?.listing !== place?.listing || !seen.current)
    seen.current = { listing: place?.listing, ids: new Set() };
  if (!place) return { shown: rows, newCount: 0, showNew: showAgain };
  const { ids } = seen.current;
  const newCount = isFresh && !hasJustChanged() ? countNewRows(rows.map(place.idOf), ids) : 0;
  const shown = rows.slice(newCount);
  if (isFresh) for (const row of shown) ids.add(place.idOf(row));
  const showNew = () => {
    for (const row of rows) ids.add(place.idOf(row));
    showAgain();
  };
  return { shown, newCount, showNew };
}
