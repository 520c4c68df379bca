import { useQuery } from "@tanstack/react-query";
import { deploymentQuery } from "../../../api/deployments-queries.ts";
import { versionDiffQuery } from "../../../api/versions-queries.ts";
import { Ago } from "../../../parts/ago.tsx";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Working } from "../../../parts/working.tsx";
import { DiffView } from "../diff/diff-view.tsx";

interface ComparedDeploymentsProps {
  readonly agent: string;
  /** Ids of one or two deployments. They may be older than the loaded part of the table. */
  readonly ids: readonly string[];
  readonly onClear: () => void;
}

/** The differences between the versions of two deployments, from the older to the newer one. */
export function ComparedDeployments({ agent, ids, onClear }: ComparedDeploymentsProps) {
  const [first, second] = ids;
  const a = useQuery({ ...deploymentQuery(agent, first ?? ""), enabled: first !== undefined });
  const b = useQuery({ ...deploymentQuery(agent, second ?? ""), enabled: second !== undefined });
  const [from, to] = [a.data, b.data]
    .filter((each) => each !== undefined)
    .sort((x, y) => x.created_at.localeCompare(y.created_at));
  const diff = useQuery({
    ...versionDiffQuery(agent, from?.version ?? "", to?.version ?? ""),
    enabled: from !== undefined && to !== undefined,
  });
  const error = a.error ?? b.error ?? diff.error;
  return (
    <section aria-label="Comparison" className="flex flex-col gap-2 p-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-table">
        {[from, to].map(
          (each, index) =>
            each && (
              <span key={each.id} className="whitespace-nowrap">
                {index === 0 ? "From " : "to "}
                <code className="font-medium font-mono">{each.version}</code>
                <span className="text-muted">
                  {" "}
                  ({each.environment}, <Ago at={each.created_at} />)
                </span>
              </span>
            ),
        )}
        <Button kind="quiet" className="ml-auto h-7 px-2" onClick={onClear}>
          Close comparison
        </Button>
      </div>
      <div role="status">
        {error ? (
          <ErrorNote error={error} />
        ) : diff.data ? (
          <DiffView diff={diff.data} />
        ) : second === undefined ? (
          <p className="text-muted text-table">Choose a second deployment to compare it with.</p>
        ) : (
          <Working what="the comparison" />
        )}
      </div>
    </section>
  );
}
