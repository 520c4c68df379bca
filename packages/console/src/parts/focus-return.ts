import { useState } from "react";

/** What had the focus. The item of a menu is gone with it, so the menu's button stands for it. */
function findOpener(): Element | null {
  const menu = document.activeElement?.closest("[role=menu]");
  return menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : document.activeElement;
}

/**
 * Gives the focus back when a dialog closes. Radix does that for a dialog with a trigger of its own, and ours have none:
 * without this, whoever works by keyboard would begin at the top of the page again.
 */
export function useFocusReturn(isOpen: boolean): (event: Event) => void {
  const [wasOpen, setWasOpen] = useState(false);
  const [opener, setOpener] = useState<Element | null>(null);
  if (isOpen !== wasOpen) {
    setWasOpen(isOpen);
    if (isOpen) setOpener(findOpener());
  }
  return (event) => {
    event.preventDefault();
    // What the dialog did may have moved the focus already.
    if (document.activeElement !== null && document.activeElement !== document.body) return;
    const isThere = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
    (isThere ? opener : document.getElementById("page"))?.focus();
  };
}
