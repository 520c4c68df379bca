import * as Radix from "@radix-ui/react-dialog";
import { useState } from "react";
import { Icon } from "../parts/icon.tsx";
import { RailLinks } from "./rail.tsx";

const iconButton =
  "inline-flex size-8 shrink-0 items-center justify-center rounded text-muted hover:bg-sunken hover:text-text";

/** The rail of a narrow screen: a button in the top bar that opens it. */
export function RailSheet() {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Radix.Root open={isOpen} onOpenChange={setIsOpen}>
      <Radix.Trigger aria-label="Open the menu" className={`${iconButton} md:hidden`}>
        <Icon name="menu" />
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[#00000066] md:hidden" />
        <Radix.Content
          aria-describedby={undefined}
          className="fixed inset-y-0 left-0 z-50 flex w-[min(280px,85vw)] flex-col gap-1 border-line border-r bg-sunken p-2 shadow-xl md:hidden"
        >
          <div className="flex items-center justify-between">
            <Radix.Title className="px-2 font-semibold">Perch</Radix.Title>
            <Radix.Close aria-label="Close the menu" className={iconButton}>
              <Icon name="cross" />
            </Radix.Close>
          </div>
          <nav aria-label="Main" className="flex flex-col gap-1">
            <RailLinks onGo={() => setIsOpen(false)} />
          </nav>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
