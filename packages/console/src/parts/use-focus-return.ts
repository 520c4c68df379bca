import { useState } from "react";

/** The focused element; for a menu item, which disappears when chosen, the button that opened the menu. */
function findOpener(): HTMLElement | null {
  const active = document.activeElement;
  const menu = active?.closest("[role=menu]");
  const opener = menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : active;
  return opener instanceof HTMLElement && opener !== document.body ? opener : null;
}

/** Whether the page that the dialog led to has put the focus somewhere, where a user may be typing already. */
const isTaken = (active: Element | null): boolean =>
  active !== null && active !== document.body && active.closest("[role=dialog]") === null;

/**
 * For `onCloseAutoFocus` of a dialog that opens without a Radix trigger: gives the focus back to the element that had it when the dialog
 * opened, or to the page if that element is gone.
 */
export function useFocusReturn(isOpen: boolean): (event: Event) => void {
  const [wasOpen, setWasOpen] = useState(false);
  const [opener, setOpener] = useState<HTMLElement | null>(null);
  if (isOpen !== wasOpen) {
    setWasOpen(isOpen);
    if (isOpen) setOpener(findOpener());
  }
  return (event) => {
    event.preventDefault();
    if (isTaken(document.activeElement)) return;
    opener?.focus();
    if (opener === null || document.activeElement !== opener) document.getElementById("page")?.focus();
  };
}
