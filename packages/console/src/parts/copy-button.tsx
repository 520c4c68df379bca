import { useState } from "react";
import { Icon } from "./icon.tsx";

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for the button's name: "Copy the request id". */
  readonly what: string;
  readonly className?: string;
}

export function CopyButton({ text, what, className = "" }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button
      type="button"
      onClick={() => void copy()}
      aria-label={`Copy ${what}`}
      title={`Copy ${what}`}
      className={`inline-flex size-6 items-center justify-center rounded text-muted hover:bg-sunken hover:text-text ${className}`}
    >
      <Icon name={copied ? "check" : "copy"} className="size-3.5" />
      <span role="status" className="sr-only">
        {copied ? "Copied" : ""}
      </span>
    </button>
  );
}
