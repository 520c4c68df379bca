import type { Installation } from "@perch/sdk";
import type { ReactNode } from "react";
import { formatCount } from "../../../parts/duration.ts";
import { Fact, Facts } from "../../../parts/facts.tsx";
import { formatBytes } from "../../../parts/visible-text.ts";

const unknown = <span className="text-muted">not known</span>;

const orUnknown = (value: number | null | undefined, format: (value: number) => string): ReactNode =>
  value === null || value === undefined ? unknown : format(value);

const withUnit = (value: number, one: string, many: string): string =>
  `${formatCount(value)} ${value === 1 ? one : many}`;

/** The numbers of the node that answered, and of the parts that it reached. */
export function Figures({ installation: { database, engine, valkey } }: { readonly installation: Installation }) {
  const { invocations, tasks_waiting } = engine;
  return (
    <Facts layout="figures">
      <Fact name="Database">{orUnknown(database?.size_bytes, formatBytes)}</Fact>
      <Fact name="Connections of this node">
        {database
          ? `${database.connections_in_use} of ${database.connections_max} in use, ${database.requests_waiting} waiting`
          : unknown}
      </Fact>
      <Fact name="Oldest transaction">
        {database?.oldest_transaction_seconds === null
          ? "none"
          : orUnknown(database?.oldest_transaction_seconds, (seconds) => `${seconds} s`)}
      </Fact>
      <Fact name="Migrations">
        {orUnknown(database?.pending_migrations.length, (count) => (count === 0 ? "all applied" : `${count} pending`))}
      </Fact>
      <Fact name="Invocations">
        {invocations
          ? `${formatCount(invocations.running)} running, ${formatCount(invocations.queued)} queued`
          : unknown}
      </Fact>
      <Fact name="Waiting or failing">
        {invocations
          ? `${formatCount(invocations.suspended)} suspended, ${formatCount(invocations.retrying)} retrying`
          : unknown}
      </Fact>
      <Fact name="Not yet with the engine">
        {orUnknown(tasks_waiting, (count) => withUnit(count, "task", "tasks"))}
      </Fact>
      <Fact name="Limits">
        {valkey.limits === "shared"
          ? `shared${valkey.memory_bytes === null ? "" : `, Valkey uses ${formatBytes(valkey.memory_bytes)}`}`
          : "per node"}
      </Fact>
    </Facts>
  );
}
