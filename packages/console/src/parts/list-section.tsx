import { type ReactNode, useId } from "react";

interface ListSectionProps {
  readonly title: ReactNode;
  readonly hint: string;
  readonly children: ReactNode;
}

/** One of several lists of a page, with a sentence about its content. */
export function ListSection({ title, hint, children }: ListSectionProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="pt-4">
      <h2 id={id} className="px-4 text-body">
        {title}
      </h2>
      <p className="max-w-3xl px-4 pb-2 text-muted text-table">{hint}</p>
      {children}
    </section>
  );
}

/** The message of a list without rows. */
export const NoRows = ({ children }: { readonly children: ReactNode }) => (
  <p className="border-line border-t px-4 py-3 text-muted text-table">{children}</p>
);
