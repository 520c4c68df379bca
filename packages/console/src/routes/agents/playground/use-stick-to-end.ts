import { type RefObject, useLayoutEffect, useRef } from "react";

const nearPx = 48;

interface Item {
  readonly id: string;
}

interface StickToEnd {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly onScroll: () => void;
}

/**
 * Scrolls with the end of a growing list, unless the reader has scrolled away from it. A new item scrolls back to the end; older items
 * added at the top do not move the visible ones.
 */
export function useStickToEnd(items: readonly Item[]): StickToEnd {
  const ref = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const last = useRef({ firstId: "", lastId: "", height: 0 });
  const onScroll = () => {
    const box = ref.current;
    if (box) isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < nearPx;
  };
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box) return;
    const [firstId, lastId] = [items[0]?.id ?? "", items.at(-1)?.id ?? ""];
    const isNew = lastId !== last.current.lastId;
    if (isNew || isAtEnd.current) box.scrollTop = box.scrollHeight;
    else if (firstId !== last.current.firstId) box.scrollTop += box.scrollHeight - last.current.height;
    if (isNew) isAtEnd.current = true;
    last.current = { firstId, lastId, height: box.scrollHeight };
  }, [items]);
  return { ref, onScroll };
}
