import { useRef } from "react";
import { Button } from "../parts/button.tsx";

interface NewRowsButtonProps {
  readonly count: number;
  /** "deliveries" */
  readonly what: string;
  readonly onShow: () => void;
}

/** The list does not move when this button appears: the button lies over the list and takes no room in it. */
export function NewRowsButton({ count, what, onShow }: NewRowsButtonProps) {
  const box = useRef<HTMLDivElement>(null);
  const show = () => {
    onShow();
    // The button disappears with the focus, so the focus moves to the top of the list.
    box.current?.focus();
  };
  return (
    <div
      ref={box}
      role="status"
      tabIndex={-1}
      className="sticky top-0 z-20 flex h-0 items-start justify-center outline-none"
    >
      {count > 0 && (
        <Button className="shrink-0 border-accent! text-accent!" title={`Show new ${what}`} onClick={show}>
          {count} new
        </Button>
      )}
    </div>
  );
}
