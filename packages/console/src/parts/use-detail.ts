import { type RefObject, useEffect, useRef } from "react";
import { useEscapeToClose } from "./use-escape-to-close.ts";
import { besideList, useMedia } from "./use-media.ts";

interface Detail {
  /** Of the element that holds the detail, with `tabIndex` -1. */
  readonly ref: RefObject<HTMLDivElement | null>;
  /** Beside the list the page has a title already; where the detail covers it, the detail is the title. */
  readonly Heading: "h1" | "h2";
}

/**
 * One thing of a list, for the detail of a `SplitView`: on a narrow screen the keyboard comes along, and Escape closes it. `id`, where
 * the next thing opens in the same place.
 */
export function useDetail(onClose: () => void, id?: string): Detail {
  const isWide = useMedia(besideList);
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // It covers the list, where the keyboard was. A menu of its own would close if it lost the focus.
    if (!isWide && !document.activeElement?.closest("[role=menu]")) ref.current?.focus();
  }, [isWide, id]);
  useEscapeToClose(onClose);
  return { ref, Heading: isWide ? "h2" : "h1" };
}
