import type { Erasure } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { Ago } from "../../../parts/ago.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { Cell, RowName, Table, wideOnly } from "../../../parts/table.tsx";

const removedCount = ({ receipt }: Erasure): string =>
  receipt ? receipt.removed.reduce((total, { count }) => total + count, 0).toLocaleString("en") : "–";

interface ErasureTableProps {
  readonly erasures: readonly Erasure[];
  readonly opened: string | undefined;
}

/** The erasures, without their users, whom Perch has forgotten. Each row leads to its receipt. */
export const ErasureTable = ({ erasures, opened }: ErasureTableProps) => (
  <div className="-mx-4">
    <Table
      caption="Erasures, newest first"
      columns={[
        { title: "Erasure" },
        { title: "Status", className: wideOnly },
        { title: "Removed", className: `${wideOnly} text-right` },
        { title: "Requested", className: `${wideOnly} text-right` },
      ]}
    >
      {erasures.map((erasure) => (
        <tr key={erasure.id} className={erasure.id === opened ? "bg-accent-soft" : undefined}>
          <RowName>
            <Link
              to="/settings/users-data"
              search={(before) => ({ ...before, erasure: erasure.id })}
              aria-current={erasure.id === opened ? "true" : undefined}
              className="font-mono text-accent text-small [overflow-wrap:anywhere] hover:underline"
            >
              {erasure.id}
            </Link>
            <span className="flex flex-wrap gap-x-3 text-muted text-small md:hidden">
              <StatusMark status={erasure.status} />
              <span>{removedCount(erasure)} removed</span>
              <Ago at={erasure.created_at} />
            </span>
          </RowName>
          <Cell className={wideOnly}>
            <StatusMark status={erasure.status} />
          </Cell>
          <Cell className={`${wideOnly} text-right font-mono`}>{removedCount(erasure)}</Cell>
          <Cell className={`${wideOnly} text-right`}>
            <Ago at={erasure.created_at} />
          </Cell>
        </tr>
      ))}
    </Table>
  </div>
);
