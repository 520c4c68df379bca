import { type ReactNode, useEffect, useRef } from "react";
import { CloseButton } from "./close-button.tsx";
import { HeadingLevel } from "./heading-level.ts";
import { useEscapeToClose } from "./use-escape-to-close.ts";
import { besideList, useMedia } from "./use-media.ts";

interface DetailPaneProps {
  readonly title: ReactNode;
  /** For the button that closes it: "the delivery". */
  readonly what: string;
  readonly actions?: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Whoever closes it goes on in the list, at the row that it was about. */
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

/**
 * One thing of a list, for the detail of a `SplitView`. Beside the list the page has a title already; on a narrow screen, where it covers
 * the list, this is the title, and the keyboard comes along. Escape closes it.
 */
export function DetailPane({ title, what, actions, onClose, children }: DetailPaneProps) {
  const isWide = useMedia(besideList);
  const Heading = isWide ? "h2" : "h1";
  const pane = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // It covers the list, where the keyboard was. A menu of its own would close if it lost the focus.
    if (!isWide && !document.activeElement?.closest("[role=menu]")) pane.current?.focus();
  }, [isWide]);
  useFocusBackToRow();
  useEscapeToClose(onClose);
  return (
    <div
      ref={pane}
      tabIndex={-1}
      className="@container flex h-full min-h-0 flex-col gap-3 overflow-auto px-4 py-3 outline-none"
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Heading className="flex min-w-0 flex-1 items-center gap-2 text-body [overflow-wrap:anywhere]">{title}</Heading>
        {actions && <div className="flex flex-wrap items-center gap-2 max-md:order-last max-md:w-full">{actions}</div>}
        <CloseButton what={what} onClose={onClose} />
      </header>
      <HeadingLevel value={isWide ? 3 : 2}>{children}</HeadingLevel>
    </div>
  );
}
