import { cloneElement, type HTMLAttributes, type ReactElement, type ReactNode, Suspense, useState } from "react";
import { lazyPage } from "./lazy-page.tsx";

const load = () => import("./shown-menu.tsx");
const ShownMenu = lazyPage(load, "ShownMenu");

export interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactElement<HTMLAttributes<HTMLElement>>;
  readonly children: ReactNode;
  /** The edge of the button that the menu aligns with. */
  readonly align?: "start" | "end";
}

/** A menu whose code loads when one is first opened, because it is as large as a page. */
export function Menu(props: MenuProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [wasOpen, setWasOpen] = useState(false);
  const open = () => {
    setWasOpen(true);
    setIsOpen(true);
  };
  const closed = cloneElement(props.trigger, {
    "aria-haspopup": "menu",
    "aria-expanded": false,
    onClick: open,
    onKeyDown: ({ key }) => key === "ArrowDown" && open(),
  });
  if (!wasOpen) return closed;
  return (
    <Suspense fallback={closed}>
      <ShownMenu {...props} isOpen={isOpen} onOpenChange={setIsOpen} />
    </Suspense>
  );
}

export interface MenuItemProps {
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

export const MenuItem = lazyPage<"ShownMenuItem", MenuItemProps>(load, "ShownMenuItem");

export interface MenuChoicesProps<T extends string> {
  readonly value: T;
  readonly onChoose: (value: T) => void;
  readonly choices: readonly { readonly value: T; readonly label: ReactNode }[];
}

const Choices = lazyPage<"ShownMenuChoices", MenuChoicesProps<string>>(load, "ShownMenuChoices");

/** A choice of one among several, with a mark at the current one. */
export const MenuChoices = <T extends string>({ onChoose, ...rest }: MenuChoicesProps<T>) => (
  <Choices {...rest} onChoose={(chosen: string) => onChoose(chosen as T)} />
);

export interface MenuTextProps {
  readonly children: ReactNode;
}

export const MenuLabel = lazyPage<"ShownMenuLabel", MenuTextProps>(load, "ShownMenuLabel");
export const MenuLine = lazyPage<"ShownMenuLine">(load, "ShownMenuLine");
