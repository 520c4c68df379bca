import type { ButtonHTMLAttributes, Ref } from "react";
import { classNames } from "../../parts/class-names.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";

interface BarButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly icon?: IconName;
  readonly opens?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** A button of the top bar. It passes on the props that a menu gives its button. */
export const BarButton = ({ icon, opens = false, children, className, ...rest }: BarButtonProps) => (
  <button
    type="button"
    {...rest}
    className={classNames(
      "inline-flex h-8 min-w-0 items-center gap-1.5 rounded px-2 text-muted text-table hover:bg-sunken hover:text-text",
      className,
    )}
  >
    {icon && <Icon name={icon} />}
    {children}
    {opens && <Icon name="down" className="size-3" />}
  </button>
);
