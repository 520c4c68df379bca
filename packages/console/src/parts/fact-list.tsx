import type { ReactNode } from "react";

interface FactLineProps {
  readonly name: string;
  readonly children: ReactNode;
}

export const FactLine = ({ name, children }: FactLineProps) => (
  <div className="grid grid-cols-[10.5rem_1fr] items-baseline gap-x-3 border-line border-b py-1.5">
    <dt className="text-muted text-small">{name}</dt>
    <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
  </div>
);

/** What there is to know about one thing, a line for each. */
export const FactList = ({ children }: { readonly children: ReactNode }) => (
  <dl className="flex flex-col text-table">{children}</dl>
);
