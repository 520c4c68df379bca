import type { InvocationSummary } from "@perch/sdk";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { perch } from "../../../api/perch.ts";
import { Ago } from "../../../parts/ago.tsx";
import { formatDuration } from "../../../parts/duration.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";
import { Working } from "../../../parts/working.tsx";
import { ListSection } from "./list-section.tsx";

const lastRunsQuery = (agent: string, environment: string | undefined) =>
  queryOptions({
    queryKey: ["invocations", "last", agent, environment],
    queryFn: async ({ signal }) => (await perch.runs.list(agent, { limit: 10, environment }, { signal }).page()).data,
    refetchInterval: 10_000,
  });

const RunRow = ({ agent, run }: { readonly agent: string; readonly run: InvocationSummary }) => (
  <tr className="relative hover:bg-sunken">
    <td className="h-8 w-28 border-line border-b pr-2">
      <StatusMark status={run.status} />
    </td>
    <th scope="row" className="truncate border-line border-b px-2 text-left font-normal">
      <Link
        to="/runs/$agent/$run"
        params={{ agent, run: run.request_id }}
        className="font-mono text-small after:absolute after:inset-0 after:content-['']"
      >
        {run.request_id}
      </Link>
    </th>
    <td className="hidden w-20 truncate border-line border-b px-2 text-muted sm:table-cell">
      <OutsideText text={run.version ?? "draft"} />
    </td>
    <td className="w-20 border-line border-b px-2 text-right">{formatDuration(run.duration_ms)}</td>
    <td className="w-24 border-line border-b pl-2 text-right text-muted">
      <Ago at={run.created_at} />
    </td>
  </tr>
);

export function LastRuns({ agent }: { readonly agent: string }) {
  const { env } = useSearch({ strict: false });
  const { data: runs, error } = useQuery(lastRunsQuery(agent, env));
  return (
    <ListSection
      title="Last runs"
      more={
        <Link to="/runs" search={{ agent }} className="text-accent text-table underline">
          All runs
        </Link>
      }
    >
      {error && !runs ? (
        <ErrorNote error={error} />
      ) : runs === undefined ? (
        <Working what="the runs" />
      ) : runs.length === 0 ? (
        <p className="py-2 text-muted text-table">
          No runs yet.{" "}
          <Link to="/agents/$agent/playground" params={{ agent }} className={textLinkClass}>
            Send a message in the playground
          </Link>
          .
        </p>
      ) : (
        <table className="w-full table-fixed text-table">
          <caption className="sr-only">Last runs, newest first</caption>
          <tbody>
            {runs.map((run) => (
              <RunRow key={run.request_id} agent={agent} run={run} />
            ))}
          </tbody>
        </table>
      )}
    </ListSection>
  );
}
