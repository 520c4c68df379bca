import { createContext, type ReactNode, use } from "react";

const layouts = {
  /** A line that wraps. */
  line: {
    facts: "flex flex-wrap gap-x-4 text-table",
    fact: "flex min-w-0 items-start gap-1.5 leading-6",
    name: "shrink-0 text-muted text-small leading-6",
    value: "min-w-0",
  },
  /** One line each. */
  list: {
    facts: "flex flex-col text-table",
    fact: "grid grid-cols-[10.5rem_1fr] items-baseline gap-x-3 border-line border-b py-1.5",
    name: "text-muted text-small",
    value: "min-w-0 [overflow-wrap:anywhere]",
  },
  /** Columns, with the name above the figure. */
  figures: {
    facts: "grid grid-cols-2 gap-x-6 gap-y-3 px-4 py-3 md:grid-cols-4",
    fact: "flex flex-col gap-0.5",
    name: "text-muted text-small",
    value: "text-table tabular-nums",
  },
} as const;

type Layout = keyof typeof layouts;

const LayoutContext = createContext<Layout>("line");

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  const layout = layouts[use(LayoutContext)];
  return (
    <div className={layout.fact}>
      <dt className={layout.name}>{name}</dt>
      <dd className={layout.value}>{children}</dd>
    </div>
  );
}

/** Facts about a thing, as pairs of name and value. */
export const Facts = ({ layout = "line", children }: { readonly layout?: Layout; readonly children: ReactNode }) => (
  <LayoutContext value={layout}>
    <dl className={layouts[layout].facts}>{children}</dl>
  </LayoutContext>
);
