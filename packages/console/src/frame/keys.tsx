import { classNames } from "../parts/class-names.ts";

export const paletteKeys = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘ K" : "Ctrl K";

interface KeysProps {
  readonly keys: string;
  /** Whether screen readers announce the keys, if they are the content and not a hint. */
  readonly isSaid?: boolean;
  readonly className?: string;
}

/** Keys as they are pressed, one after the other. */
export const Keys = ({ keys, isSaid = false, className }: KeysProps) => (
  <span aria-hidden={isSaid ? undefined : "true"} className={classNames("inline-flex shrink-0 gap-1", className)}>
    {keys.split(" ").map((key) => (
      <kbd key={key} className="rounded border border-line-strong bg-sunken px-1 font-mono text-muted text-small">
        {key}
      </kbd>
    ))}
  </span>
);
