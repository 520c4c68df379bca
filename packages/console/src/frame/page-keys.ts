import { useEffect, useRef } from "react";
import { isSingleKey, secondKeyMs } from "./use-shortcuts.ts";

export interface PageKey {
  readonly key: string;
  /** For the list of shortcuts. */
  readonly what: string;
  readonly run: () => void;
}

const shown = new Set<{ readonly current: readonly PageKey[] }>();

export const listPageKeys = (): readonly PageKey[] => [...shown].flatMap(({ current }) => current);

/** Single-key shortcuts of a page while it is shown. A letter after `g` leads to another page, so it is not one of them. */
export function usePageKeys(keys: readonly PageKey[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    let pressedG = Number.NEGATIVE_INFINITY;
    const handle = (event: KeyboardEvent) => {
      if (!isSingleKey(event)) return;
      const isSecond = event.timeStamp - pressedG < secondKeyMs;
      pressedG = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const found = isSecond ? undefined : latest.current.find(({ key }) => key === event.key);
      if (!found) return;
      event.preventDefault();
      found.run();
    };
    shown.add(latest);
    document.addEventListener("keydown", handle);
    return () => {
      shown.delete(latest);
      document.removeEventListener("keydown", handle);
    };
  }, []);
}
