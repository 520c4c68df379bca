import { type RefObject, useLayoutEffect, useRef } from "react";

const nearPx = 48;

/** Keeps the end in sight while content grows, unless the reader has scrolled away from it. */
export function useStickToEnd(content: unknown): {
  readonly ref: RefObject<HTMLDivElement | null>;
  onScroll: () => void;
} {
  const ref = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const onScroll = () => {
    const box = ref.current;
    if (box) isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < nearPx;
  };
  useLayoutEffect(() => {
    const box = ref.current;
    if (box && isAtEnd.current) box.scrollTop = box.scrollHeight;
  }, [content]);
  return { ref, onScroll };
}
