import type { Deployment } from "@perch/sdk";
import { classNames } from "../../../parts/class-names.ts";
import { formatDuration } from "../../../parts/duration.ts";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { Cell, RowName, Table } from "../../../parts/table.tsx";
import { guardLines } from "../deploy/verdict.ts";

const columns = [
  { title: "Compared" },
  { title: "Canary", className: "text-right" },
  { title: "Live", className: "text-right" },
  { title: "Limit" },
];

/** The figures of the guards' last check: the canary beside the live version, and the limit of each guard. */
export const GuardTable = ({ deployment }: { readonly deployment: Deployment }) => (
  <Table caption="Figures of the last check" columns={columns}>
    {guardLines(deployment.guards, deployment.guard_report, formatDuration).map((line) => (
      <tr key={line.name}>
        <RowName>{line.name}</RowName>
        <Cell className={classNames("whitespace-nowrap text-right", line.isBroken && "font-medium text-danger")}>
          {line.isBroken && <StatusMark status="failed" iconOnly word="beyond the limit" />} {line.canary}
        </Cell>
        <Cell className="whitespace-nowrap text-right">{line.live}</Cell>
        <Cell className="text-muted">{line.limit ?? "no guard"}</Cell>
      </tr>
    ))}
  </Table>
);
