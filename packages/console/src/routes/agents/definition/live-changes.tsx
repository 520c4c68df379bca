import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { activeDeploymentsQuery } from "../../../api/deployments-queries.ts";
import { versionDiffQuery } from "../../../api/versions-queries.ts";
import { EmptyState } from "../../../parts/empty-state.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Select } from "../../../parts/field.tsx";
import { Working } from "../../../parts/working.tsx";
import { DiffView } from "../diff/diff-view.tsx";
import { servedEnvironments } from "../live-deployments.ts";

interface LiveChangesProps {
  readonly agentRef: string;
  readonly isDirty: boolean;
}

/** The changes that a deployment of the saved draft would make in an environment. */
export function LiveChanges({ agentRef, isDirty }: LiveChangesProps) {
  const { env } = useSearch({ strict: false });
  const { data: active } = useSuspenseQuery(activeDeploymentsQuery(agentRef));
  const served = servedEnvironments(active).filter(({ live }) => live !== undefined);
  const [chosen, setChosen] = useState(env);
  const { environment, live } = served.find((one) => one.environment === chosen) ?? served[0] ?? {};
  const version = live?.version ?? "";
  const diff = useQuery({ ...versionDiffQuery(agentRef, version, "draft"), enabled: version !== "" });
  if (!live)
    return (
      <EmptyState title="Nothing is live yet">
        <p className="text-muted">Deploy the draft; later changes are shown here.</p>
      </EmptyState>
    );
  return (
    <div className="flex flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center gap-2 text-table">
        <label htmlFor="compared-environment">The saved draft compared with the live version in</label>
        <Select
          id="compared-environment"
          className="text-table"
          value={environment}
          onChange={({ target }) => setChosen(target.value)}
        >
          {served.map((one) => (
            <option key={one.environment} value={one.environment}>
              {one.environment} ({one.live?.version})
            </option>
          ))}
        </Select>
        {isDirty && <span className="text-warning">Your unsaved changes are not included.</span>}
      </div>
      {diff.error ? (
        <ErrorNote error={diff.error} onRetry={() => void diff.refetch()} />
      ) : diff.data ? (
        <DiffView diff={diff.data} />
      ) : (
        <Working what="the changes" />
      )}
    </div>
  );
}
