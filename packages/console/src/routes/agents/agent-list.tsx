import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { agentListQuery } from "../../api/agents-queries.ts";
import { buttonClass } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Page } from "../../parts/page.tsx";
import { Working } from "../../parts/working.tsx";
import { useCan } from "../../session/session.ts";
import { agentCount } from "./list/agent-count.ts";
import { AgentFilters } from "./list/agent-filters.tsx";
import { AgentTable } from "./list/agent-table.tsx";
import { FirstAgent } from "./list/first-agent.tsx";
import { useMatching } from "./list/use-matching.ts";

const route = getRouteApi("/signed-in/agents");
const firstAgentPollMs = 3000;

const NewAgentLink = () => (
  <Link to="/agents/new" className={buttonClass("primary")}>
    <Icon name="plus" /> Create agent
  </Link>
);

/** All agents of the organisation. While there are none, the page explains how to create one, and notices when it appears. */
export function AgentList() {
  const { sort = "name", q, status } = route.useSearch();
  const agents = useInfiniteQuery({
    ...agentListQuery(sort),
    refetchInterval: ({ state }) => (state.data?.pages[0]?.pagination.total === 0 ? firstAgentPollMs : false),
  });
  const canWrite = useCan("write");
  const total = agents.data?.pages[0]?.pagination.total;
  const isEmpty = total === 0;
  const matching = useMatching(agents.data);
  const count =
    total === undefined
      ? ""
      : agentCount(total, {
          matching: matching.length,
          isNarrowed: q !== undefined || status !== undefined,
          isWhole: !agents.hasNextPage,
        });
  return (
    <Page
      title="Agents"
      actions={canWrite && !isEmpty && <NewAgentLink />}
      below={total !== undefined && !isEmpty && <AgentFilters count={count} />}
    >
      <p role="status" className="sr-only">
        {count}
      </p>
      {agents.error && !agents.data ? (
        <div className="mx-auto max-w-2xl p-4">
          <ErrorNote error={agents.error} onRetry={() => void agents.refetch()} />
        </div>
      ) : total === undefined ? (
        <Working what="the agents" />
      ) : isEmpty ? (
        <FirstAgent />
      ) : (
        <AgentTable
          key={`${sort} ${q} ${status}`}
          agents={matching}
          hasMore={agents.hasNextPage}
          isLoadingMore={agents.isFetchingNextPage}
          onMore={() => void agents.fetchNextPage()}
        />
      )}
    </Page>
  );
}
