import type { ReactNode } from "react";

interface EmptyStateProps {
  /** The name of the missing content. */
  readonly title: string;
  /** `h1` if the page has no other title. */
  readonly heading?: "h1" | "h2";
  /** How to create the content. */
  readonly children?: ReactNode;
}

export const EmptyState = ({ title, heading: Heading = "h2", children }: EmptyStateProps) => (
  <div className="mx-auto flex max-w-xl flex-col gap-3 px-4 py-16 text-body">
    <Heading className="text-body">{title}</Heading>
    {children}
  </div>
);
