import type { Erasure } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { erasureQuery } from "../../../api/erasures-queries.ts";
import { Ago } from "../../../parts/ago.tsx";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { IdText } from "../../../parts/id-text.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { Cell, RowName, Table } from "../../../parts/table.tsx";
import { Working } from "../../../parts/working.tsx";

type Contents = NonNullable<Erasure["receipt"]>;

const stores = { database: "the database", engine: "the engine", streams: "streams" } as const;

const Removed = ({ parts }: { readonly parts: Contents["removed"] }) => (
  <div className="-mx-4">
    <Table
      caption="What was removed"
      columns={[{ title: "What" }, { title: "How many", className: "text-right" }, { title: "Where and how" }]}
    >
      {parts.map(({ store, data, action, count }) => (
        <tr key={`${store} ${data} ${action}`}>
          <RowName>{data}</RowName>
          <Cell className="text-right font-mono">{count.toLocaleString("en")}</Cell>
          <Cell>
            {action === "deleted" ? "deleted from" : "kept without the user's id and texts in"} {stores[store]}
          </Cell>
        </tr>
      ))}
    </Table>
  </div>
);

const Receipt = ({ receipt }: { readonly receipt: Contents }) => (
  <>
    <Removed parts={receipt.removed} />
    {receipt.expires.length > 0 && (
      <div className="flex flex-col gap-1">
        <h4 className="font-medium text-table">Copies that expire by themselves</h4>
        <ul className="list-disc pl-5 text-table">
          {receipt.expires.map(({ store, data, expires }) => (
            <li key={`${store} ${data}`}>
              {data} ({store}): {expires}
            </li>
          ))}
        </ul>
      </div>
    )}
    {receipt.not_covered.length > 0 && (
      <div className="flex flex-col gap-1">
        <h4 className="font-medium text-table">Not covered</h4>
        <ul className="list-disc pl-5 text-table">
          {receipt.not_covered.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </div>
    )}
  </>
);

/** The data that an erasure removed, to store as proof. It waits until the erasure has completed. */
export function ErasureReceipt({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data: erasure, error, refetch } = useQuery(erasureQuery(id));
  return (
    <section
      aria-labelledby="receipt"
      className="flex min-w-0 flex-col gap-3 rounded border border-line bg-surface px-4 py-3"
    >
      <header className="flex flex-wrap items-center gap-x-3">
        <h3 id="receipt" className="text-body">
          Receipt
        </h3>
        <IdText id={id} what="the erasure's id" />
        <Button kind="quiet" className="ml-auto" onClick={onClose}>
          Close receipt
        </Button>
      </header>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!erasure && !error && <Working what="the receipt" />}
      {erasure && (
        <p className="flex flex-wrap gap-x-4 text-table">
          <StatusMark status={erasure.status} />
          <span>
            requested <Ago at={erasure.created_at} />
          </span>
          {erasure.completed_at !== null && (
            <span>
              completed <Ago at={erasure.completed_at} />
            </span>
          )}
        </p>
      )}
      {erasure?.status === "running" && (
        <p role="status" className="text-muted text-table">
          The erasure goes on in the background. Its receipt appears here when it has completed.
        </p>
      )}
      {erasure?.receipt && <Receipt receipt={erasure.receipt} />}
    </section>
  );
}
