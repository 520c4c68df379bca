import type { Installation } from "@perch/sdk";
import type { ReactNode } from "react";
import { formatCount } from "../../../parts/duration.ts";
import { formatBytes } from "../../../parts/visible-text.ts";

const Figure = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div className="flex flex-col gap-0.5">
    <dt className="text-muted text-small">{name}</dt>
    <dd className="text-table tabular-nums">{children}</dd>
  </div>
);

const unknown = <span className="text-muted">not known</span>;

const orUnknown = (value: number | null | undefined, format: (value: number) => string): ReactNode =>
  value === null || value === undefined ? unknown : format(value);

const withUnit = (value: number, one: string, many: string): string =>
  `${formatCount(value)} ${value === 1 ? one : many}`;

/** The numbers of the node that answered, and of the parts it could ask. */
export function Figures({ installation: { database, engine, valkey } }: { readonly installation: Installation }) {
  const { invocations, tasks_waiting } = engine;
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 px-4 py-3 md:grid-cols-4">
      <Figure name="Database">{orUnknown(database?.size_bytes, formatBytes)}</Figure>
      <Figure name="Connections of this node">
        {database
          ? `${database.connections_in_use} of ${database.connections_max} in use, ${database.requests_waiting} waiting`
          : unknown}
      </Figure>
      <Figure name="Oldest transaction">
        {database?.oldest_transaction_seconds === null
          ? "none"
          : orUnknown(database?.oldest_transaction_seconds, (seconds) => `${seconds} s`)}
      </Figure>
      <Figure name="Migrations">
        {orUnknown(database?.pending_migrations.length, (count) => (count === 0 ? "all applied" : `${count} pending`))}
      </Figure>
      <Figure name="Invocations">
        {invocations
          ? `${formatCount(invocations.running)} running, ${formatCount(invocations.queued)} queued`
          : unknown}
      </Figure>
      <Figure name="Waiting or failing">
        {invocations
          ? `${formatCount(invocations.suspended)} suspended, ${formatCount(invocations.retrying)} retrying`
          : unknown}
      </Figure>
      <Figure name="Not yet with the engine">
        {orUnknown(tasks_waiting, (count) => withUnit(count, "task", "tasks"))}
      </Figure>
      <Figure name="Limits">
        {valkey.limits === "shared"
          ? `shared${valkey.memory_bytes === null ? "" : `, Valkey uses ${formatBytes(valkey.memory_bytes)}`}`
          : "per node"}
      </Figure>
    </dl>
  );
}
