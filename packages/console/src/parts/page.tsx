import { type ReactNode, useEffect } from "react";

interface PageProps {
  readonly title: ReactNode;
  /** The name of the browser's tab, if the title is more than text. */
  readonly tabTitle?: string;
  /** The primary action and the other actions, beside the title. */
  readonly actions?: ReactNode;
  /** Under the title: tabs or a line of facts. */
  readonly below?: ReactNode;
  /** Forms and prose are at most 1,280 px wide; tables and timelines use the full width. */
  readonly width?: "form" | "full";
  readonly children: ReactNode;
}

/** The name of the browser's tab while the page is shown. */
export function useTabTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title === undefined ? "Perch" : `${title} · Perch`;
  }, [title]);
}

/** A page has one title, one primary action, and answers one question. */
export const Page = ({ title, tabTitle, actions, below, width = "full", children }: PageProps) => {
  useTabTitle(tabTitle ?? (typeof title === "string" ? title : undefined));
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="border-line border-b px-4 pt-4">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2 pb-3">
          <h1 className="min-w-0 text-title [overflow-wrap:anywhere]">{title}</h1>
          {actions && (
            <div data-page-actions className="ml-auto flex flex-wrap items-center gap-2">
              {actions}
            </div>
          )}
        </div>
        {below}
      </header>
      {/* It scrolls, so the keyboard must reach it. */}
      <div className="min-h-0 flex-1 overflow-auto">
        {width === "form" ? <div className="mx-auto max-w-[1280px] p-4">{children}</div> : children}
      </div>
    </div>
  );
};
