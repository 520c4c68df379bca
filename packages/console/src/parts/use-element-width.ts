import { type RefObject, useLayoutEffect, useState } from "react";

/** The width of an element in steps of 20 px, so that dragging its edge does not render a list for every pixel. */
export function useElementWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor((entry?.contentRect.width ?? 0) / 20) * 20));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
