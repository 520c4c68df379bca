import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { activeDeploymentsQuery, deploymentPagesQuery, pollMs } from "../../api/deployments-queries.ts";
import { PagedList } from "../../lists/paged-list.tsx";
import { useSlowClock } from "../../parts/ago.tsx";
import { classNames } from "../../parts/class-names.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { rangeLabel, resolveRange } from "../../parts/time-range.ts";
import { useCan } from "../../session/session.ts";
import { RollBack } from "./deploy/roll-back.tsx";
import { ComparedDeployments } from "./deployments/compared-deployments.tsx";
import { DeploymentTable } from "./deployments/deployment-table.tsx";
import { isPageMissing, uniteDeployments } from "./deployments/loaded-time.ts";
import { timelineOf } from "./deployments/timeline.ts";
import { TimelineView } from "./deployments/timeline-view.tsx";
import { useEarlier } from "./deployments/use-earlier.ts";
import { servedEnvironments } from "./live-deployments.ts";

const route = getRouteApi("/signed-in/agents/$agent/deployments");

/** All pages that reach into the visible time. Older ones are loaded when the user asks for them. */
function useDeploymentPages(agent: string, environment: string | undefined, start: Date) {
  const query = useInfiniteQuery({
    ...deploymentPagesQuery(agent, environment),
    // A poll reads all loaded pages.
    refetchInterval: ({ state }) =>
      pollMs(state.data?.pages.flatMap(({ data }) => data)) * (state.data?.pages.length ?? 1),
  });
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query;
  const oldest = data?.pages.at(-1)?.data.at(-1)?.created_at;
  const isMissing = isPageMissing({ oldest, hasNextPage, isFetching, isError }, start);
  useEffect(() => {
    if (isMissing) void fetchNextPage();
  }, [isMissing, fetchNextPage]);
  const isReached = oldest !== undefined && Date.parse(oldest) <= start.getTime();
  return { query, continuesBefore: hasNextPage && isReached ? oldest : undefined };
}

/**
 * The timeline's deployments beyond the loaded pages: the live ones, however old, and those that were live when the oldest loaded one was
 * made.
 */
function useOlder(agent: string, env: string | undefined, pages: ReturnType<typeof useDeploymentPages>) {
  const { data: everywhere = [] } = useQuery(activeDeploymentsQuery(agent));
  const active = everywhere.filter(({ environment }) => env === undefined || environment === env);
  const loaded = pages.query.data?.pages.flatMap(({ data }) => data) ?? [];
  const earlier = useEarlier(agent, [...loaded, ...active], pages.continuesBefore);
  return [...active, ...earlier];
}

/** A third choice replaces the second. */
const toggled = (chosen: readonly string[], id: string): readonly string[] =>
  chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen.slice(0, 1), id];

const RollBacks = ({ agent, env }: { readonly agent: string; readonly env: string | undefined }) => {
  const { data: active = [] } = useQuery(activeDeploymentsQuery(agent));
  return servedEnvironments(active)
    .filter(({ environment }) => env === undefined || environment === env)
    .map(
      ({ environment, live, canary }) =>
        live && <RollBack key={environment} agent={agent} live={live} canary={canary} />,
    );
};

const NoDeployments = ({ agent, env }: { readonly agent: string; readonly env: string | undefined }) => (
  <EmptyState title={env === undefined ? "No deployments yet" : `No deployments in ${env}`}>
    <p className="text-muted">
      Until the first one, the draft answers every message. A deployment gives it a version that does not change, and
      can be rolled back: use Deploy agent above, or the command line.
    </p>
    <code className="rounded border border-line bg-sunken px-3 py-2 font-mono text-table">
      npx perch deploy {agent} --label v1
    </code>
  </EmptyState>
);

/** The version that served each environment at each time, and the differences between any two of them. */
export function AgentDeployments() {
  const { agent } = route.useParams();
  const { from, to } = route.useSearch();
  const { env, range } = useSearch({ strict: false });
  const navigate = route.useNavigate();
  const clock = useSlowClock();
  const pages = useDeploymentPages(agent, env, resolveRange(range, clock).start);
  const older = useOlder(agent, env, pages);
  const { query } = pages;
  // Deployments loaded since the clock's last tick are in sight too.
  const now = new Date(Math.max(clock.getTime(), query.dataUpdatedAt));
  const { start, end = now } = resolveRange(range, now);
  const span = { start: start.getTime(), end: end.getTime() };
  const canWrite = useCan("write");
  const compared = [from, to].filter((id) => id !== undefined);
  const compare = ([first, second]: readonly string[]) =>
    void navigate({ search: (before) => ({ ...before, from: first, to: second }), replace: true });
  return (
    <PagedList
      query={query}
      what="deployments"
      empty={<NoDeployments agent={agent} env={env} />}
      place={{ listing: JSON.stringify([agent, env]), idOf: ({ id }) => id }}
    >
      {(deployments) => {
        const lanes = timelineOf(uniteDeployments(deployments, older), span, now.getTime());
        return (
          <>
            <section aria-labelledby="timeline-title" className="flex flex-col gap-1 pt-3 pb-4">
              <div className="flex min-h-8 flex-wrap items-center justify-between gap-2 px-4">
                <h2 id="timeline-title" className="text-body">
                  {rangeLabel(range)}
                </h2>
                {canWrite && (
                  <div className="flex flex-wrap gap-2 empty:hidden">
                    <RollBacks agent={agent} env={env} />
                  </div>
                )}
              </div>
              {lanes.length > 0 ? (
                <TimelineView agent={agent} lanes={lanes} span={span} compared={compared} />
              ) : (
                <p className="px-4 text-muted text-table">Nothing was deployed in this time.</p>
              )}
            </section>
            <div
              className={classNames(
                "border-line border-t",
                compared.length > 0 && "xl:grid xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]",
              )}
            >
              {compared.length > 0 && (
                <div className="min-w-0 border-line max-xl:border-b xl:order-last xl:border-l">
                  <ComparedDeployments agent={agent} ids={compared} onClear={() => compare([])} />
                </div>
              )}
              <DeploymentTable
                agent={agent}
                deployments={deployments}
                compared={compared}
                onCompare={(id) => compare(toggled(compared, id))}
              />
            </div>
          </>
        );
      }}
    </PagedList>
  );
}
