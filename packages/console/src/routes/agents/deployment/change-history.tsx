import type { AuditEntry, Deployment } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { deploymentHistoryQuery } from "../../../api/deployments-queries.ts";
import { useKeyName } from "../../../lists/use-key-name.ts";
import { Ago } from "../../../parts/ago.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { Cell, RowName, Table } from "../../../parts/table.tsx";
import { Working } from "../../../parts/working.tsx";

const words: Readonly<Record<string, string>> = {
  createDeployment: "Created",
  updateDeployment: "Changed its share",
  promoteDeployment: "Promoted",
  abortDeployment: "Aborted",
  rollbackDeployment: "Rolled back to its version",
  rollBackCanary: "Rolled back by its guards",
};

const columns = [{ title: "What" }, { title: "By" }, { title: "When", className: "text-right" }];

/** The changes of a deployment from the audit log, made by persons, keys, or Perch itself for its guards. */
export function ChangeHistory({ deployment }: { readonly deployment: Deployment }) {
  const { data, error } = useQuery(deploymentHistoryQuery(deployment.id));
  const keyName = useKeyName();
  const actorOf = ({ actor, person, key_id }: AuditEntry): string =>
    actor === "system" ? "Perch" : (person ?? keyName(key_id));
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Working what="the history" />;
  if (data.length === 0) return <p className="text-muted text-table">The audit log has no entry for it.</p>;
  return (
    <Table caption="Who changed this deployment, newest first" columns={columns}>
      {data.map((entry) => (
        <tr key={entry.id}>
          <RowName>{words[entry.operation] ?? entry.operation}</RowName>
          <Cell className="text-muted">
            <OutsideText text={actorOf(entry)} />
          </Cell>
          <Cell className="text-right text-muted">
            <Ago at={entry.created_at} />
          </Cell>
        </tr>
      ))}
    </Table>
  );
}
