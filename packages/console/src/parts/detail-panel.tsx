import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { Icon } from "./icon.tsx";
import { useMedia } from "./use-media.ts";

/** From here on a detail is beside its list, and the list has the page's title. */
const besideList = "(min-width: 1024px)";

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

interface DetailPanelProps {
  /** "the key": for the button that closes it. */
  readonly what: string;
  readonly title: ReactNode;
  readonly actions?: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** One thing of a list, beside it or in its place. Escape closes it from anywhere in it. */
export function DetailPanel({ what, title, actions, onClose, children }: DetailPanelProps) {
  const isBeside = useMedia(besideList);
  const Heading = isBeside ? "h2" : "h1";
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // It covers the list, where the keyboard was.
    if (!isBeside) panel.current?.focus();
  }, [isBeside]);
  useFocusBackToRow();
  const onKeyDown = (event: KeyboardEvent) => {
    // What opens over it closes first, and its keys come by here too.
    const isInside = event.target instanceof Node && event.currentTarget.contains(event.target);
    if (event.key === "Escape" && !event.defaultPrevented && isInside) onClose();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes it from anywhere in it.
    <div
      ref={panel}
      tabIndex={-1}
      className="flex h-full min-h-0 flex-col overflow-auto outline-none"
      onKeyDown={onKeyDown}
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 pt-3">
        <Heading className="min-w-0 flex-1 font-medium text-body [overflow-wrap:anywhere]">{title}</Heading>
        {actions && <div className="flex flex-wrap items-center gap-2 max-md:order-last max-md:w-full">{actions}</div>}
        <button
          type="button"
          aria-label={`Close ${what}`}
          title={`Close ${what} (Esc)`}
          onClick={onClose}
          className="rounded p-1.5 text-muted hover:bg-sunken hover:text-text"
        >
          <Icon name="cross" />
        </button>
      </header>
      {children}
    </div>
  );
}
