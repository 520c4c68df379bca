import { memo, useState } from "react";
import { Button } from "./button.tsx";
import { formatCount } from "./duration.ts";

export interface ValuesColumn {
  readonly title: string;
  /** Null if there was no traffic. */
  readonly values: readonly (number | null)[];
  readonly format: (value: number) => string;
}

interface ValuesTableProps {
  /** Beginning of each interval, in seconds. */
  readonly times: readonly number[];
  readonly columns: readonly ValuesColumn[];
}

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const cell = "h-8 whitespace-nowrap border-line border-b px-2";
const number = `${cell} text-right`;
const shownAtFirst = 200;

const Row = ({
  at,
  columns,
  index,
}: { readonly at: number; readonly index: number } & Omit<ValuesTableProps, "times">) => (
  <tr>
    <th scope="row" className={`${cell} text-left font-normal`}>
      {moment.format(at * 1000)}
    </th>
    {columns.map(({ title, values, format }) => {
      const value = values[index] ?? null;
      return (
        <td key={title} className={number}>
          {value === null ? "–" : format(value)}
        </td>
      );
    })}
  </tr>
);

const Values = memo(({ times, columns }: ValuesTableProps) => {
  const [isWhole, setIsWhole] = useState(false);
  const rows = [...times.keys()].filter((index) => columns.some(({ values }) => (values[index] ?? null) !== null));
  const shown = rows.toReversed().slice(0, isWhole ? undefined : shownAtFirst);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls where the window is narrow, so the keyboard must reach it */}
      <section aria-label="Values of the charts" tabIndex={0} className="overflow-x-auto">
        <table className="w-full max-w-5xl text-table">
          <caption className="sr-only">
            Values of the charts, newest first. Intervals without runs are left out.
          </caption>
          <thead className="text-muted text-small">
            <tr>
              <th scope="col" className={`${cell} text-left font-medium`}>
                From
              </th>
              {columns.map(({ title }) => (
                <th key={title} scope="col" className={`${number} font-medium`}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((index) => (
              <Row key={index} at={times[index] ?? 0} columns={columns} index={index} />
            ))}
          </tbody>
        </table>
      </section>
      {shown.length < rows.length && (
        <Button className="mt-2" onClick={() => setIsWhole(true)}>
          Show all {formatCount(rows.length)} intervals
        </Button>
      )}
    </>
  );
});

/** The same values as in the charts, for users who cannot see them or prefer a table. Intervals without runs are left out. */
export function ValuesTable(props: ValuesTableProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div>
      <Button kind="quiet" className="-ml-3" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        {isOpen ? "Hide the values" : "Show the values as a table"}
      </Button>
      {isOpen && <Values {...props} />}
    </div>
  );
}
