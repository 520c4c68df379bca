import { Icon } from "./icon.tsx";
import { useCopy } from "./use-copy.ts";

interface CopyButtonProps {
  readonly text: string;
  /** The name of the copied value, for the button's label: "Copy the request id". */
  readonly what: string;
  readonly className?: string;
}

export function CopyButton({ text, what, className = "" }: CopyButtonProps) {
  const { copy, isCopied, outcome } = useCopy();
  const isRefused = outcome !== "" && !isCopied;
  return (
    <button
      type="button"
      onClick={() => copy(text)}
      aria-label={`Copy ${what}`}
      title={isRefused ? outcome : `Copy ${what}`}
      className={`inline-flex size-6 items-center justify-center rounded text-muted hover:bg-sunken hover:text-text ${className}`}
    >
      <Icon name={isCopied ? "check" : isRefused ? "cross" : "copy"} className="size-3.5" />
      <span role="status" className="sr-only">
        {outcome}
      </span>
    </button>
  );
}
