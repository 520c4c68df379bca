import type { ButtonHTMLAttributes } from "react";
import { classNames } from "./class-names.ts";

type Kind = "primary" | "plain" | "quiet" | "danger";

const kinds: Record<Kind, string> = {
  primary: "bg-accent text-on-accent border-transparent hover:opacity-90",
  plain: "bg-surface text-text border-line-strong hover:bg-sunken",
  quiet: "bg-transparent text-muted border-transparent hover:bg-sunken hover:text-text",
  danger: "bg-surface text-danger border-danger hover:bg-danger-soft",
};

/** For links that look like a button, too. */
export const buttonClass = (kind: Kind = "plain", extra?: string): string =>
  classNames(
    "inline-flex h-8 items-center justify-center gap-1.5 whitespace-nowrap rounded border px-3 text-table font-medium",
    "disabled:cursor-not-allowed disabled:opacity-60 aria-disabled:cursor-not-allowed aria-disabled:opacity-60",
    kinds[kind],
    extra,
  );

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: Kind;
  /** Set while the action is under way: the button shows it and cannot be pressed twice. */
  readonly working?: boolean;
}

/** While it works it only looks disabled: a button that is would drop the focus. */
export const Button = ({ kind, working = false, className, onClick, children, ...rest }: ButtonProps) => (
  <button
    type="button"
    {...rest}
    // A submit button's form is not sent either.
    onClick={working ? (event) => event.preventDefault() : onClick}
    {...(working && { "aria-disabled": true })}
    aria-busy={working}
    className={buttonClass(kind, className)}
  >
    {children}
    {working && <span aria-hidden="true">…</span>}
  </button>
);
