import { useEffect, useRef } from "react";
import { readFlag } from "../../../frame/stored-flag.ts";
import { singleKeysOff } from "../../../frame/use-shortcuts.ts";

/** Elements with their own use of space. */
const takesSpace = "input, textarea, select, button, a, summary, [contenteditable], [role=dialog] *, [role=menu] *";

/** Space pauses and resumes the tail, wherever the focus is on the page. */
export function usePauseKey(isTail: boolean, toggle: () => void): void {
  const latest = useRef(toggle);
  latest.current = toggle;
  useEffect(() => {
    if (!isTail) return;
    const handle = (event: KeyboardEvent) => {
      if (event.key !== " " || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (readFlag(singleKeysOff) || (event.target instanceof Element && event.target.matches(takesSpace))) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener("keydown", handle);
    return () => document.removeEventListener("keydown", handle);
  }, [isTail]);
}
