import * as Radix from "@radix-ui/react-dialog";
import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";

interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** One sentence: what this does. */
  readonly description?: ReactNode;
  readonly children: ReactNode;
}

export const Dialog = ({ open, onClose, title, description, children }: DialogProps) => (
  <Radix.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
    <Radix.Portal>
      <Radix.Overlay className="fixed inset-0 z-40 bg-[#00000066]" />
      <Radix.Content
        {...(description === undefined && { "aria-describedby": undefined })}
        className="fixed top-[12vh] left-1/2 z-50 flex max-h-[80vh] w-[min(560px,calc(100vw-24px))] -translate-x-1/2 flex-col gap-3 overflow-auto rounded border border-line-strong bg-surface p-4 shadow-xl"
      >
        <div className="flex items-start justify-between gap-4">
          <Radix.Title className="font-semibold text-body">{title}</Radix.Title>
          <Radix.Close aria-label="Close" className="rounded p-1 text-muted hover:bg-sunken hover:text-text">
            <Icon name="cross" />
          </Radix.Close>
        </div>
        {description !== undefined && (
          <Radix.Description className="text-muted text-table">{description}</Radix.Description>
        )}
        {children}
      </Radix.Content>
    </Radix.Portal>
  </Radix.Root>
);
