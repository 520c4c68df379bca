import { useEffect, useRef } from "react";

/**
 * Escape closes the pane beside a list wherever the focus is: after a click on a row it is still in the list. A dialog or menu over the
 * page closes first and consumes the key.
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
