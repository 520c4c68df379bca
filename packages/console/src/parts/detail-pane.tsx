import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { Icon } from "./icon.tsx";
import { useMedia } from "./use-media.ts";

interface DetailPaneProps {
  readonly title: ReactNode;
  /** For the button that closes it: "the delivery". */
  readonly what: string;
  readonly actions?: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** From here on the detail is beside its list. */
const wide = "(min-width: 1024px)";

/**
 * One thing of a list, for the detail of a `SplitView`. Beside the list the page has a title already; on a narrow screen, where it covers
 * the list, this is the title, and the keyboard comes along. Escape closes it.
 */
export function DetailPane({ title, what, actions, onClose, children }: DetailPaneProps) {
  const isWide = useMedia(wide);
  const Heading = isWide ? "h2" : "h1";
  const pane = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isWide) pane.current?.focus();
  }, [isWide]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && !event.defaultPrevented) onClose();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the detail from anywhere in it.
    <div
      ref={pane}
      tabIndex={-1}
      onKeyDown={onKeyDown}
      className="@container flex h-full min-h-0 flex-col gap-3 overflow-auto px-4 py-3 outline-none"
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Heading className="flex min-w-0 items-center gap-2 font-medium text-body">{title}</Heading>
        <div className="ml-auto flex items-center gap-2">
          {actions}
          <button
            type="button"
            aria-label={`Close ${what}`}
            title={`Close ${what} (Esc)`}
            onClick={onClose}
            className="rounded p-1.5 text-muted hover:bg-sunken hover:text-text"
          >
            <Icon name="cross" />
          </button>
        </div>
      </header>
      {children}
    </div>
  );
}
