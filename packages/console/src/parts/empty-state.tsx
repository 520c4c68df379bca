import type { ReactNode } from "react";

interface EmptyStateProps {
  /** What would be here. */
  readonly title: string;
  /** `h1` where nothing else is the title of the page. */
  readonly heading?: "h1" | "h2";
  /** How to get it. */
  readonly children?: ReactNode;
}

export const EmptyState = ({ title, heading: Heading = "h2", children }: EmptyStateProps) => (
  <div className="mx-auto flex max-w-xl flex-col gap-3 px-4 py-16 text-body">
    <Heading className="text-body">{title}</Heading>
    {children}
  </div>
);
