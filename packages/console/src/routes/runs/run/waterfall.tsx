import { type KeyboardEvent, useRef } from "react";
import { formatDuration } from "../../../parts/duration.ts";
import { useElementWidth } from "../../../parts/use-element-width.ts";
import { percentAt, type Span, ticksOf, type WaterfallItem } from "./waterfall-items.ts";
import { idOfItem, WaterfallRow } from "./waterfall-row.tsx";

const tickWidth = 60;

function Axis({ whole }: { readonly whole: Span }) {
  const bar = useRef<HTMLSpanElement>(null);
  const width = useElementWidth(bar);
  const ticks = ticksOf(whole, Math.max(1, Math.min(6, Math.floor(width / tickWidth))));
  return (
    <div aria-hidden="true" className="waterfall-grid h-7 items-end border-line border-b text-muted text-small">
      <span />
      <span ref={bar} className="relative h-full">
        {ticks.map((ms) => (
          <span
            key={ms}
            className="absolute bottom-1 whitespace-nowrap border-line-strong border-l pl-1"
            style={{ left: `${percentAt(whole, whole.startMs + ms)}%` }}
          >
            {percentAt(whole, whole.startMs + ms) * width < (width - 48) * 100 && formatDuration(ms)}
          </span>
        ))}
      </span>
      <span className="pb-1 text-right">took</span>
      <span className="pb-1 text-right">tokens</span>
    </div>
  );
}

const moves: Record<string, (index: number, last: number) => number> = {
  ArrowDown: (index, last) => Math.min(index + 1, last),
  ArrowUp: (index) => Math.max(index - 1, 0),
  Home: () => 0,
  End: (_, last) => last,
};

interface WaterfallProps {
  readonly items: readonly WaterfallItem[];
  readonly whole: Span;
  readonly selectedKey: string | undefined;
  readonly onSelect: (key: string) => void;
}

/** Every attempt of every step as a bar on one scale of time. Arrows move through them. */
export function Waterfall({ items, whole, selectedKey, onSelect }: WaterfallProps) {
  const selected = items.findIndex(({ key }) => key === selectedKey);
  const onKeyDown = (event: KeyboardEvent) => {
    const next = items[moves[event.key]?.(selected, items.length - 1) ?? -1];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    onSelect(next.key);
    document.getElementById(idOfItem(next.key))?.scrollIntoView({ block: "nearest" });
  };
  const onClick = (target: EventTarget) => {
    const key = target instanceof Element ? target.closest<HTMLElement>("[data-key]")?.dataset.key : undefined;
    if (key !== undefined) onSelect(key);
  };
  return (
    <div className="text-table">
      <Axis whole={whole} />
      <div
        role="listbox"
        aria-label="Steps of the run"
        tabIndex={0}
        {...(selectedKey !== undefined && selected >= 0 && { "aria-activedescendant": idOfItem(selectedKey) })}
        onKeyDown={onKeyDown}
        onClick={(event) => onClick(event.target)}
        // Above the step detail the waterfall has its own scroll, so that both are visible; beside it there is room for all.
        className="max-h-[45vh] overflow-auto @5xl:max-h-none"
      >
        {items.map((item) => (
          <WaterfallRow key={item.key} item={item} whole={whole} isSelected={item.key === selectedKey} />
        ))}
      </div>
    </div>
  );
}
