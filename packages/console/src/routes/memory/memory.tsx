import { useQuery } from "@tanstack/react-query";
import { Outlet, useParams, useSearch } from "@tanstack/react-router";
import { isNotFound } from "../../api/is-not-found.ts";
import { memoryStatusQuery } from "../../api/memory-queries.ts";
import { ChooseAgent } from "../../lists/choose-agent.tsx";
import { NoSuchAgent } from "../../lists/no-such-agent.tsx";
import { useAgentName } from "../../lists/use-agent-name.ts";
import { useSearchChange } from "../../parts/change-search.ts";
import { OutsideText } from "../../parts/outside-text.tsx";
import { Page } from "../../parts/page.tsx";
import { SplitView } from "../../parts/split-view.tsx";
import { useMe } from "../../session/session.ts";
import { MemoryFilters } from "./list/memory-filters.tsx";
import { MemoryTable } from "./list/memory-table.tsx";
import { SearchResults } from "./list/search-results.tsx";
import { StatusLine } from "./list/status-line.tsx";
import { MemoryActions } from "./memory-actions.tsx";
import { type MemorySearchParams, modeOf } from "./memory-search.ts";

interface MemoriesProps {
  readonly agent: string;
  readonly search: MemorySearchParams;
  readonly openId: string | undefined;
}

function useIsMissing(agent: string | undefined): boolean {
  const { error } = useQuery({ ...memoryStatusQuery(agent ?? ""), enabled: agent !== undefined });
  return isNotFound(error);
}

/** All memories of the agent, or the results of a search. */
function Memories({ agent, search: { user, session, q, mode }, openId }: MemoriesProps) {
  if (useIsMissing(agent)) return <NoSuchAgent agent={agent} />;
  if (q === undefined) return <MemoryTable agent={agent} filter={{ user, session }} openId={openId} />;
  return <SearchResults agent={agent} search={{ text: q, mode: modeOf(mode), user, session }} openId={openId} />;
}

/** The memory of one agent, to browse, search and clear. */
export function MemoryBrowser() {
  const changeSearch = useSearchChange();
  const search = useSearch({ from: "/signed-in/memory" });
  const params = useParams({ strict: false });
  const ownAgent = useMe().key.agent_id ?? undefined;
  const nameOf = useAgentName();
  const agent = params.agent ?? search.agent ?? ownAgent;
  const isMissing = useIsMissing(agent);
  const change = (filters: MemorySearchParams) =>
    // Another agent has other memories, so the open one is closed.
    changeSearch(filters, { to: "agent" in filters ? "/memory" : "." });
  const list = (
    <Page
      title={
        agent === undefined ? (
          "Memory"
        ) : (
          <>
            Memory of <OutsideText text={nameOf(agent)} />
          </>
        )
      }
      tabTitle={agent === undefined ? "Memory" : `Memory of ${nameOf(agent)}`}
      actions={agent !== undefined && !isMissing && <MemoryActions key={agent} agent={agent} search={search} />}
      below={
        <>
          <MemoryFilters agent={agent} search={search} onChange={change} canChooseAgent={ownAgent === undefined} />
          {agent !== undefined && <StatusLine agent={agent} />}
        </>
      }
    >
      {agent === undefined ? (
        <ChooseAgent title="Whose memory?">Each agent has its own memory of its users.</ChooseAgent>
      ) : (
        <Memories agent={agent} search={search} openId={params.memory} />
      )}
    </Page>
  );
  return <SplitView list={list} detail={params.memory === undefined ? undefined : <Outlet />} />;
}
