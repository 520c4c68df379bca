import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

/** The class of a cell that a narrow screen has no room for. The row's first cell repeats its content there. */
export const wideOnly = "max-md:hidden";

/** The same, by the width of the table, which is small beside a detail. */
export const roomyOnly = "@max-2xl:hidden";
/** The class of the replacement under the row's name. */
export const tightOnly = "@2xl:hidden";
interface CellProps {
  readonly children?: ReactNode;
  readonly className?: string | undefined;
}

export const Cell = ({ children, className }: CellProps) => (
  <td className={classNames("h-8 border-line border-b px-2 py-0.5", className)}>{children}</td>
);

/** The first cell of a row, which names it. */
export const RowName = ({ children, className }: CellProps) => (
  <th scope="row" className={classNames("h-8 border-line border-b px-2 py-0.5 text-left font-normal", className)}>
    {children}
  </th>
);

export interface TableColumn {
  readonly title: string;
  /** For screen readers only, as over a column of buttons. */
  readonly isHidden?: boolean;
  readonly className?: string;
}

interface TableProps {
  /** The name of the table for screen readers. */
  readonly caption: string;
  readonly columns: readonly TableColumn[];
  readonly children: ReactNode;
}

/**
 * Rows of 32 px with hairlines, under sticky titles. The padding at the edges belongs to the table, because the last visible cell depends
 * on the width.
 */
export const Table = ({ caption, columns, children }: TableProps) => (
  <div className="@container">
    <table className="w-full border-separate px-2 border-spacing-0 text-table">
      <caption className="sr-only">{caption}</caption>
      <thead className="sticky top-0 z-10 bg-page text-left text-muted text-small shadow-[inset_0_-1px_0_var(--line)]">
        <tr className="h-8">
          {columns.map(({ title, isHidden = false, className }) => (
            <th key={title} scope="col" className={classNames("px-2 font-medium", className)}>
              {isHidden ? <span className="sr-only">{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);
