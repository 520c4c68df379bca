import { useEffect, useRef } from "react";

/**
 * Escape closes what is open beside a list, wherever the keyboard is: after a click on a row it is still in the list. What opens over the
 * page, as a dialog or a menu, closes first and keeps the key to itself.
 */
export function useEscapeToClose(onClose: () => void): void {
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
      const isOverPage =
        event.target instanceof Element && event.target.closest("[role=dialog],[role=alertdialog],[role=menu]");
      if (!isOverPage) close.current();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}
