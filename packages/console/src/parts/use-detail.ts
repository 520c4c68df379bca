import { type RefObject, useEffect, useRef } from "react";
import { useEscapeToClose } from "./use-escape-to-close.ts";
import { besideList, useMedia } from "./use-media.ts";

interface Detail {
  /** The ref of the element with the detail, which has `tabIndex` -1. */
  readonly ref: RefObject<HTMLDivElement | null>;
  /** Beside a list the page already has a title; if the detail covers the list, its title is the page's. */
  readonly Heading: "h1" | "h2";
}

/**
 * One item of a list, for the detail of a `SplitView`. On a narrow screen the focus moves to it, and Escape closes it. Pass `id` if the
 * next item opens in the same place.
 */
export function useDetail(onClose: () => void, id?: string): Detail {
  const isWide = useMedia(besideList);
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The detail covers the list that had the focus. A menu in the detail would close if it lost the focus.
    if (!isWide && !document.activeElement?.closest("[role=menu]")) ref.current?.focus();
  }, [isWide, id]);
  useEscapeToClose(onClose);
  return { ref, Heading: isWide ? "h2" : "h1" };
}
