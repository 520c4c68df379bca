import * as Radix from "@radix-ui/react-dropdown-menu";
import type { ReactNode } from "react";

interface MenuProps {
  /** The button that opens it: one element. */
  readonly trigger: ReactNode;
  readonly children: ReactNode;
}

export const Menu = ({ trigger, children }: MenuProps) => (
  <Radix.Root>
    <Radix.Trigger asChild>{trigger}</Radix.Trigger>
    <Radix.Portal>
      <Radix.Content
        align="end"
        sideOffset={4}
        collisionPadding={8}
        className="z-50 max-h-[70vh] min-w-44 overflow-auto rounded border border-line-strong bg-surface p-1 text-table shadow-xl"
      >
        {children}
      </Radix.Content>
    </Radix.Portal>
  </Radix.Root>
);

interface MenuItemProps {
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

export const MenuItem = ({ onSelect, children }: MenuItemProps) => (
  <Radix.Item
    onSelect={onSelect}
    className="flex h-8 cursor-pointer items-center gap-2 rounded px-2 outline-none data-[highlighted]:bg-accent-soft"
  >
    {children}
  </Radix.Item>
);

export const MenuLabel = ({ children }: { readonly children: ReactNode }) => (
  <Radix.Label className="px-2 py-1 text-muted text-small">{children}</Radix.Label>
);

export const MenuLine = () => <Radix.Separator className="my-1 h-px bg-line" />;
