import * as Radix from "@radix-ui/react-dialog";
import { useLayoutEffect, useRef } from "react";
import type { DialogProps } from "./dialog.tsx";
import { Icon } from "./icon.tsx";
import { useFocusReturn } from "./use-focus-return.ts";

export function ShownDialog({ open, onClose, title, description, isFirm = false, children }: DialogProps) {
  // Read on demand: for a moment after a render, Radix still calls the handlers of the previous one.
  const firm = useRef(isFirm);
  useLayoutEffect(() => {
    firm.current = isFirm;
  }, [isFirm]);
  const stayIfFirm = (event: Event) => firm.current && event.preventDefault();
  return (
    <Radix.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-[#00000066]" />
        <Radix.Content
          onCloseAutoFocus={useFocusReturn(open)}
          onInteractOutside={stayIfFirm}
          onEscapeKeyDown={stayIfFirm}
          {...(description === undefined && { "aria-describedby": undefined })}
          className="fixed top-[12vh] left-1/2 z-50 flex max-h-[80vh] w-[min(560px,calc(100vw-24px))] -translate-x-1/2 flex-col gap-3 overflow-auto rounded border border-line-strong bg-surface p-4 shadow-xl"
        >
          <Radix.Title className="pr-8 font-semibold text-body [overflow-wrap:anywhere]">{title}</Radix.Title>
          {description !== undefined && (
            <Radix.Description className="text-muted text-table">{description}</Radix.Description>
          )}
          {children}
          {/* Last, so that a dialog begins with the focus in its first field. */}
          {!isFirm && (
            <Radix.Close
              aria-label="Close"
              className="absolute top-3 right-3 rounded p-1 text-muted hover:bg-sunken hover:text-text"
            >
              <Icon name="cross" />
            </Radix.Close>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
