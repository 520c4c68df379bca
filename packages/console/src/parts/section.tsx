import type { ReactNode } from "react";

/** A part of a form or of a page of facts: its title beside it if there is room. */
export const Section = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section className="grid gap-x-6 gap-y-3 border-line border-b py-4 md:grid-cols-[160px_minmax(0,1fr)]">
    <h2 className="text-body">{title}</h2>
    <div className="flex min-w-0 max-w-3xl flex-col gap-3">{children}</div>
  </section>
);
