import * as Radix from "@radix-ui/react-dialog";
import { Icon } from "../parts/icon.tsx";
import { useFocusReturn } from "../parts/use-focus-return.ts";
import { RailLinks } from "./rail.tsx";
import { iconButtonClass } from "./rail-button.tsx";

/** The rail of a narrow screen. */
export const RailSheet = ({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) => (
  <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
    <Radix.Portal>
      <Radix.Overlay className="fixed inset-0 z-40 bg-[#00000066] md:hidden" />
      <Radix.Content
        onCloseAutoFocus={useFocusReturn(isOpen)}
        aria-describedby={undefined}
        className="fixed inset-y-0 left-0 z-50 flex w-[min(280px,85vw)] flex-col gap-1 overflow-y-auto overscroll-contain border-line border-r bg-sunken p-2 shadow-xl md:hidden"
      >
        <div className="flex items-center justify-between">
          <Radix.Title className="px-2 font-semibold">Perch</Radix.Title>
          <Radix.Close aria-label="Close the menu" className={iconButtonClass}>
            <Icon name="cross" />
          </Radix.Close>
        </div>
        <nav aria-label="Main" className="flex flex-col gap-1">
          <RailLinks onGo={onClose} />
        </nav>
      </Radix.Content>
    </Radix.Portal>
  </Radix.Root>
);
