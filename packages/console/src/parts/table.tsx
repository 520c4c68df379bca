import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

/** Of a cell that a narrow screen has no room for. What it says stands under the first cell of the row there. */
export const wideOnly = "max-md:hidden";

/** The same by the room that the table has, which is little beside a detail. */
export const roomyOnly = "@max-2xl:hidden";
/** What says it instead, under the row's name. */
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
  /** Said to readers of the screen only, as over a column of buttons. */
  readonly isHidden?: boolean;
  readonly className?: string;
}

interface TableProps {
  /** What the rows are, for readers of the screen. */
  readonly caption: string;
  readonly columns: readonly TableColumn[];
  readonly children: ReactNode;
}

/** Rows of 32 px with hairlines, under titles that stay. The room at the edges is the table's: which cell is the last depends on its width. */
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
