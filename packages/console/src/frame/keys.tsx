import { classNames } from "../parts/class-names.ts";

/** Keys as they are pressed, one after the other. */
export const Keys = ({ keys, className }: { readonly keys: string; readonly className?: string }) => (
  <span className={classNames("inline-flex shrink-0 gap-1", className)}>
    {keys.split(" ").map((key) => (
      <kbd key={key} className="rounded border border-line-strong bg-sunken px-1 font-mono text-muted text-small">
        {key}
      </kbd>
    ))}
  </span>
);
