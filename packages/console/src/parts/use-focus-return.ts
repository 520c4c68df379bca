import { useState } from "react";

/** What has the focus now; for an item of a menu, which goes when it is chosen, the button that opened the menu. */
function findOpener(): HTMLElement | null {
  const active = document.activeElement;
  const menu = active?.closest("[role=menu]");
  const opener = menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : active;
  return opener instanceof HTMLElement && opener !== document.body ? opener : null;
}

/**
 * For `onCloseAutoFocus` of a dialog that opens without a trigger of Radix: gives the focus back to what had it when the dialog opened,
 * or to the page if that is gone.
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
    opener?.focus();
    if (opener === null || document.activeElement !== opener) document.getElementById("page")?.focus();
  };
}
