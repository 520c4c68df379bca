import { type ReactNode, useId } from "react";

interface ListSectionProps {
  readonly title: string;
  /** A link to the whole list, beside the title. */
  readonly more?: ReactNode;
  readonly children: ReactNode;
}

export const ListSection = ({ title, more, children }: ListSectionProps) => {
  const id = useId();
  return (
    <section aria-labelledby={id} className="min-w-0">
      <div className="flex items-baseline justify-between border-line border-b pb-2">
        <h2 id={id} className="text-body">
          {title}
        </h2>
        {more}
      </div>
      {children}
    </section>
  );
};
