import { Outlet, useParams, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { RunListing } from "../../api/run-list-queries.ts";
import { useSearchChange } from "../../parts/change-search.ts";
import { Page } from "../../parts/page.tsx";
import { SplitView } from "../../parts/split-view.tsx";
import { resolveRange } from "../../parts/time-range.ts";
import { NewRuns } from "./list/new-runs.tsx";
import { NoRuns } from "./list/no-runs.tsx";
import { countFilters, RunFilters } from "./list/run-filters.tsx";
import { RunList } from "./list/run-list.tsx";
import type { RunsSearch } from "./runs-search.ts";

const noFilters: RunsSearch = {
  agent: undefined,
  status: undefined,
  session: undefined,
  user: undefined,
  version: undefined,
};

type Status = NonNullable<RunListing["filter"]["status"]>;

/** A listing begins when it is first shown: its time range ends then, and newer runs wait above it. */
function useListing(): { readonly listing: RunListing; readonly refresh: () => void } {
  const { env, range, agent, status, session, user, version } = useSearch({ from: "/signed-in/runs" });
  const [generation, setGeneration] = useState(0);
  const listing = useMemo(() => {
    const { start, end } = resolveRange(range, new Date());
    const filter = {
      agent_id: agent,
      status: status as Status | undefined,
      session_id: session,
      user_id: user,
      version,
      environment: env,
      start_time: start.toISOString(),
      end_time: end?.toISOString(),
    };
    return { id: JSON.stringify([filter, generation]), filter };
  }, [env, range, agent, status, session, user, version, generation]);
  return { listing, refresh: () => setGeneration(generation + 1) };
}

/** The runs of all agents, with one of them beside the list. */
export function Runs() {
  const search = useSearch({ from: "/signed-in/runs" });
  const { agent, run } = useParams({ strict: false });
  const { listing, refresh } = useListing();
  const change = useSearchChange<Partial<RunsSearch & { readonly env: string | undefined }>>();
  const clear = () => change(noFilters);
  const list = (
    <Page
      title="Runs"
      tabTitle={run === undefined ? "Runs" : `Run of ${agent}`}
      actions={<NewRuns listing={listing} onShow={refresh} />}
      below={<RunFilters search={search} onChange={change} onClear={clear} />}
    >
      <RunList
        key={listing.id}
        listing={listing}
        empty={
          <NoRuns
            isFiltered={countFilters(search) > 0 || search.env !== undefined}
            onClear={() => change({ ...noFilters, env: undefined })}
          />
        }
      />
    </Page>
  );
  return <SplitView list={list} detail={run === undefined ? undefined : <Outlet />} />;
}
