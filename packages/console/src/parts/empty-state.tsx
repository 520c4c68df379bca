import type { ReactNode } from "react";

interface EmptyStateProps {
  /** What would be here. */
  readonly title: string;
  /** How to get it. */
  readonly children?: ReactNode;
}

export const EmptyState = ({ title, children }: EmptyStateProps) => (
  <div className="mx-auto flex max-w-xl flex-col gap-3 px-4 py-16 text-body">
    <h2 className="text-body">{title}</h2>
    {children}
  </div>
);
