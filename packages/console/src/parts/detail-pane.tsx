import { type ReactNode, useEffect, useRef } from "react";
import { CloseButton } from "./close-button.tsx";
import { HeadingLevel } from "./heading-level.ts";
import { useDetail } from "./use-detail.ts";

interface DetailPaneProps {
  readonly title: ReactNode;
  /** For the button that closes it: "the delivery". */
  readonly what: string;
  readonly actions?: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** After closing, the focus returns to the row of the list that the pane was about. */
function useFocusBackToRow(): void {
  const row = useRef<HTMLElement | null>(null);
  useEffect(() => {
    row.current = document.querySelector<HTMLElement>("a[data-row][aria-current]");
  });
  useEffect(
    () => () => {
      const { activeElement } = document;
      if (activeElement === null || activeElement === document.body) row.current?.focus();
    },
    [],
  );
}

/** The detail of a `SplitView`: its title, its actions, and a button that closes it. */
export function DetailPane({ title, what, actions, onClose, children }: DetailPaneProps) {
  const { ref, Heading } = useDetail(onClose);
  useFocusBackToRow();
  return (
    <div
      ref={ref}
      tabIndex={-1}
      className="@container flex h-full min-h-0 flex-col gap-3 overflow-auto px-4 py-3 outline-none"
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Heading className="flex min-w-0 flex-1 items-center gap-2 text-body [overflow-wrap:anywhere]">{title}</Heading>
        {actions && <div className="flex flex-wrap items-center gap-2 max-md:order-last max-md:w-full">{actions}</div>}
        <CloseButton what={what} onClose={onClose} />
      </header>
      <HeadingLevel value={Heading === "h2" ? 3 : 2}>{children}</HeadingLevel>
    </div>
  );
}
