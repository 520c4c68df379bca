import * as Radix from "@radix-ui/react-dropdown-menu";
import { type ReactNode, useState } from "react";
import { Icon } from "./icon.tsx";

interface MenuProps {
  /** The button that opens it: one element. */
  readonly trigger: ReactNode;
  readonly children: ReactNode;
  /** Which edge of the button it keeps to. */
  readonly align?: "start" | "end";
}

/** It opens inside of the page's main part, so that readers of a screen find it there, and it does not lock the rest. */
export function Menu({ trigger, children, align = "end" }: MenuProps) {
  const [container, setContainer] = useState<HTMLElement | null>(null);
  return (
    <Radix.Root modal={false} onOpenChange={(isOpen) => isOpen && setContainer(document.getElementById("page"))}>
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

interface MenuChoicesProps<T extends string> {
  readonly value: T;
  readonly onChoose: (value: T) => void;
  readonly choices: readonly { readonly value: T; readonly label: ReactNode }[];
}

/** One of several, with a mark at the one that is. */
export const MenuChoices = <T extends string>({ value, onChoose, choices }: MenuChoicesProps<T>) => (
  <Radix.RadioGroup value={value} onValueChange={(chosen) => onChoose(chosen as T)}>
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

export const MenuLabel = ({ children }: { readonly children: ReactNode }) => (
  <Radix.Label className="px-2 py-1 text-muted text-small">{children}</Radix.Label>
);

export const MenuLine = () => <Radix.Separator className="my-1 h-px bg-line" />;
