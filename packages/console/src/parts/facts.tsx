import type { ReactNode } from "react";

interface FactProps {
  readonly name: string;
  readonly children: ReactNode;
}

export const Fact = ({ name, children }: FactProps) => (
  <div className="flex min-w-0 items-start gap-1.5 leading-6">
    <dt className="shrink-0 text-muted text-small leading-6">{name}</dt>
    <dd className="min-w-0">{children}</dd>
  </div>
);

/** What is known about a thing, in a line that wraps. */
export const Facts = ({ children }: { readonly children: ReactNode }) => (
  <dl className="flex flex-wrap gap-x-4 text-table">{children}</dl>
);
