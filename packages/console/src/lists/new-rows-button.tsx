import { useRef } from "react";
import { Button } from "../parts/button.tsx";

interface NewRowsButtonProps {
  readonly count: number;
  /** "deliveries" */
  readonly what: string;
  readonly onShow: () => void;
}

/** The list keeps its place, also when this appears: it lies over the list, and takes no room in it. */
export function NewRowsButton({ count, what, onShow }: NewRowsButtonProps) {
  const box = useRef<HTMLDivElement>(null);
  const show = () => {
    onShow();
    // The button goes, and the keyboard with it: it goes on at the top of the list.
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
