import { useState } from "react";
import type { AgentHistory } from "../../../api/metrics-queries.ts";
import { Button } from "../../../parts/button.tsx";
import { formatCount, formatDuration } from "../../../parts/duration.ts";

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const cell = "h-8 border-line border-b px-2 text-right";

/** The same values as in the charts, for whoever cannot see or does not want a picture. Intervals without runs are left out. */
export function HistoryTable({ history }: { readonly history: AgentHistory }) {
  const [isOpen, setIsOpen] = useState(false);
  const rows = [...history.times.keys()].filter((index) => history.throughput[index] !== null).reverse();
  return (
    <div>
      <Button kind="quiet" className="-ml-3" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        {isOpen ? "Hide the values" : "Show the values as a table"}
      </Button>
      {isOpen && (
        <table className="w-full max-w-4xl text-table">
          <caption className="sr-only">Values of the charts, newest first</caption>
          <thead className="text-muted text-small">
            <tr>
              <th scope="col" className={`${cell} text-left font-medium`}>
                From
              </th>
              {["Requests per minute", "Error rate", "95th percentile", "Tokens"].map((name) => (
                <th key={name} scope="col" className={`${cell} font-medium`}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((index) => (
              <tr key={index}>
                <th scope="row" className={`${cell} text-left font-normal`}>
                  {moment.format((history.times[index] ?? 0) * 1000)}
                </th>
                <td className={cell}>{history.throughput[index]?.toFixed(2)}</td>
                <td className={cell}>{((history.errorRate[index] ?? 0) * 100).toFixed(1)} %</td>
                <td className={cell}>{formatDuration(history.p95Ms[index])}</td>
                <td className={cell}>{formatCount(history.tokens[index] ?? 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
