import { useState } from "react";

interface Copying {
  readonly copy: (text: string) => void;
  readonly isCopied: boolean;
  /** The outcome of the last attempt, for two seconds. */
  readonly outcome: string;
}

/** Copies a text. A browser may refuse, and then the user sees why. */
export function useCopy(): Copying {
  const [isCopied, setIsCopied] = useState<boolean>();
  const attempt = async (text: string) => {
    try {
      await navigator.clipboard.writeText(text);
      setIsCopied(true);
    } catch {
      setIsCopied(false);
    }
    setTimeout(() => setIsCopied(undefined), 2000);
  };
  const outcome = isCopied ? "Copied" : "This browser does not allow the page to copy";
  return {
    copy: (text) => void attempt(text),
    isCopied: isCopied === true,
    outcome: isCopied === undefined ? "" : outcome,
  };
}
