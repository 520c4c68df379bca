import { Suspense, useState } from "react";
import { Icon } from "../parts/icon.tsx";
import { lazyPage } from "../parts/lazy-page.tsx";

const RailSheet = lazyPage(() => import("./rail-sheet.tsx"), "RailSheet");

export const iconButtonClass =
  "inline-flex size-8 shrink-0 items-center justify-center rounded text-muted hover:bg-sunken hover:text-text";

/** Opens the rail on a narrow screen. */
export function RailButton() {
  const [isOpen, setIsOpen] = useState(false);
  const [wasOpened, setWasOpened] = useState(false);
  const open = () => {
    setWasOpened(true);
    setIsOpen(true);
  };
  return (
    <>
      <button
        type="button"
        aria-label="Open the menu"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={open}
        className={`${iconButtonClass} md:hidden`}
      >
        <Icon name="menu" />
      </button>
      {wasOpened && (
        <Suspense fallback={null}>
          <RailSheet isOpen={isOpen} onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
