import { type KeyboardEvent, type PointerEvent, type ReactElement, type ReactNode, useRef, useState } from "react";

const storageKey = "perch.list-width";
const [minWidth, defaultWidth, step] = [280, 460, 24];
/** The detail needs some room, too. */
const minDetailWidth = 420;

const readWidth = (): number => Number(localStorage.getItem(storageKey)) || defaultWidth;

/** A width chosen in a wider window still leaves room for the detail in this one. */
const widthWithin = (px: number): string => `clamp(${minWidth}px, ${px}px, calc(100% - ${minDetailWidth}px))`;

interface SplitViewProps {
  readonly list: ReactNode;
  /** Undefined gives the list all the room. */
  readonly detail: ReactElement | undefined;
}

/** A list, and one of its items beside it. Under 1024 px the item covers the list, which stays where it was scrolled to. */
export function SplitView({ list, detail }: SplitViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(readWidth);
  const maxWidth = () => Math.max(minWidth, (box.current?.clientWidth ?? 0) - minDetailWidth);
  const clamp = (px: number): number => Math.round(Math.min(Math.max(px, minWidth), maxWidth()));
  const store = (px: number) => {
    localStorage.setItem(storageKey, String(clamp(px)));
    setWidth(clamp(px));
  };
  const onPointerMove = (event: PointerEvent) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId) || !box.current) return;
    store(event.clientX - box.current.getBoundingClientRect().left);
  };
  const onKeyDown = ({ key }: KeyboardEvent) => {
    const next = { ArrowLeft: clamp(width) - step, ArrowRight: clamp(width) + step, Home: minWidth, End: maxWidth() }[
      key
    ];
    if (next !== undefined) store(next);
  };
  return (
    <div ref={box} className="relative flex h-full min-h-0">
      <div
        className={detail === undefined ? "min-w-0 flex-1" : "min-w-0 shrink-0 max-lg:invisible max-lg:w-full!"}
        style={detail === undefined ? undefined : { width: widthWithin(width) }}
      >
        {list}
      </div>
      {detail !== undefined && (
        <>
          {/* biome-ignore lint/a11y/useSemanticElements: a line that can be moved is no thematic break. */}
          <div
            role="separator"
            aria-orientation="vertical"
            aria-label="Width of the list"
            aria-valuenow={width}
            aria-valuemin={minWidth}
            aria-valuemax={2000}
            tabIndex={0}
            onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
            onPointerMove={onPointerMove}
            onKeyDown={onKeyDown}
            className="w-1 shrink-0 cursor-col-resize touch-none border-line border-l hover:bg-accent max-lg:hidden"
          />
          <div className="min-w-0 flex-1 bg-page max-lg:absolute max-lg:inset-0 max-lg:z-30">{detail}</div>
        </>
      )}
    </div>
  );
}
