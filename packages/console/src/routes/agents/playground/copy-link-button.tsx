import { useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { Icon } from "../../../parts/icon.tsx";

/** The address has everything but the conversation, and that is found by its session. */
export function CopyLinkButton() {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(location.href);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 1500);
  };
  return (
    <Button kind="quiet" onClick={() => void copy()}>
      <Icon name={isCopied ? "check" : "copy"} className="size-3.5" />
      Copy link
      <span role="status" className="sr-only">
        {isCopied ? "Copied" : ""}
      </span>
    </Button>
  );
}
