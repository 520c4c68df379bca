import * as Radix from "@radix-ui/react-dropdown-menu";
import { Icon } from "./icon.tsx";
import type { MenuChoicesProps, MenuItemProps, MenuProps, MenuTextProps } from "./menu.tsx";

interface ShownMenuProps extends MenuProps {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
}

/** It opens inside the page's main part, so that screen readers find it there, and it does not lock the rest. */
export function ShownMenu({ trigger, children, align = "end", isOpen, onOpenChange }: ShownMenuProps) {
  const container = document.getElementById("page");
  return (
    <Radix.Root modal={false} open={isOpen} onOpenChange={onOpenChange}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal container={container}>
        <Radix.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-h-[70vh] min-w-44 overflow-auto rounded border border-line-strong bg-surface p-1 text-table shadow-xl"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export const ShownMenuItem = ({ onSelect, children }: MenuItemProps) => (
  <Radix.Item
    onSelect={onSelect}
    className="flex h-8 cursor-pointer items-center gap-2 rounded px-2 outline-none data-[highlighted]:bg-accent-soft"
  >
    {children}
  </Radix.Item>
);

/** A choice of one among several, with a mark at the current one. */
export const ShownMenuChoices = ({ value, onChoose, choices }: MenuChoicesProps<string>) => (
  <Radix.RadioGroup value={value} onValueChange={onChoose}>
    {choices.map((choice) => (
      <Radix.RadioItem
        key={choice.value}
        value={choice.value}
        className="flex h-8 cursor-pointer items-center gap-2 rounded px-2 outline-none data-[highlighted]:bg-accent-soft"
      >
        <span className="w-4">
          <Radix.ItemIndicator>
            <Icon name="check" />
          </Radix.ItemIndicator>
        </span>
        {choice.label}
      </Radix.RadioItem>
    ))}
  </Radix.RadioGroup>
);

export const ShownMenuLabel = ({ children }: MenuTextProps) => (
  <Radix.Label className="px-2 py-1 text-muted text-small">{children}</Radix.Label>
);

export const ShownMenuLine = () => <Radix.Separator className="my-1 h-px bg-line" />;
