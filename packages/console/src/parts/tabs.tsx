import { type ReactNode, useEffect, useRef } from "react";

export const tabClass =
  "flex h-9 items-center border-transparent border-b-2 text-muted text-table whitespace-nowrap hover:text-text";

interface TabsProps {
  /** The label for screen readers: "Pages of this agent". */
  readonly label: string;
  readonly children: ReactNode;
}

/** A row of links to the pages of one thing, under its title. If it overflows, the link of the current page is scrolled into sight. */
export function Tabs({ label, children }: TabsProps) {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    const show = () =>
      row.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
    show();
    // The links notice a change of page by themselves; this component is not rendered again.
    const observer = new MutationObserver(show);
    if (row.current) observer.observe(row.current, { subtree: true, attributeFilter: ["aria-current"] });
    return () => observer.disconnect();
  }, []);
  return (
    <nav ref={row} aria-label={label} className="-mb-px flex gap-5 overflow-x-auto">
      {children}
    </nav>
  );
}
