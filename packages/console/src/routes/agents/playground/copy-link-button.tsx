import { Button } from "../../../parts/button.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { useCopy } from "../../../parts/use-copy.ts";

/** The address has everything except the conversation, which is found by its session. */
export function CopyLinkButton() {
  const { copy, isCopied, outcome } = useCopy();
  return (
    <Button kind="quiet" onClick={() => copy(location.href)}>
      <Icon name={isCopied ? "check" : "copy"} className="size-3.5" />
      {isCopied || outcome === "" ? "Copy link" : outcome}
      <span role="status" className="sr-only">
        {outcome}
      </span>
    </Button>
  );
}
