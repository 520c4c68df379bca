import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useId } from "react";
import { versionDiffQuery } from "../../../api/versions-queries.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Select } from "../../../parts/field.tsx";
import { Working } from "../../../parts/working.tsx";
import { DiffView } from "../diff/diff-view.tsx";

const route = getRouteApi("/signed-in/agents/$agent/versions");
const draft = "draft";

interface ComparisonProps {
  readonly agentRef: string;
  readonly labels: readonly string[];
  /** The version compared with the draft if the address names none. */
  readonly live: string | undefined;
}

interface SideProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly onChange: (version: string) => void;
}

const Side = ({ label, value, options, onChange }: SideProps) => {
  const id = useId();
  return (
    <span className="flex items-center gap-2">
      <label htmlFor={id}>{label}</label>
      <Select id={id} className="max-w-48 text-table" value={value} onChange={({ target }) => onChange(target.value)}>
        {[...new Set([value, ...options])].map((option) => (
          <option key={option}>{option}</option>
        ))}
      </Select>
    </span>
  );
};

/** The differences between any two versions, or a version and the draft. Both are in the address. */
export function Comparison({ agentRef, labels, live }: ComparisonProps) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const from = search.from ?? live ?? labels[0] ?? "";
  const to = search.to ?? draft;
  const diff = useQuery(versionDiffQuery(agentRef, from, to));
  const change = (changed: { from?: string; to?: string }) =>
    void navigate({ search: (before) => ({ ...before, from, to, ...changed }), replace: true });
  return (
    <section aria-label="Comparison" className="flex flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-table">
        <Side label="From" value={from} options={labels} onChange={(version) => change({ from: version })} />
        <Side label="to" value={to} options={[draft, ...labels]} onChange={(version) => change({ to: version })} />
      </div>
      <div role="status">
        {diff.error ? (
          <ErrorNote error={diff.error} onRetry={() => void diff.refetch()} />
        ) : diff.data ? (
          <DiffView diff={diff.data} />
        ) : (
          <Working what="the comparison" />
        )}
      </div>
    </section>
  );
}
