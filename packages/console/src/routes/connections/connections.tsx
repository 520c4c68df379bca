import { useInfiniteQuery } from "@tanstack/react-query";
import { Outlet, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { connectionListQuery } from "../../api/connections-queries.ts";
import { isNotFound } from "../../api/is-not-found.ts";
import { ChooseAgent } from "../../lists/choose-agent.tsx";
import { NoSuchAgent } from "../../lists/no-such-agent.tsx";
import { PagedList } from "../../lists/paged-list.tsx";
import { useAgentName } from "../../lists/use-agent-name.ts";
import { Button } from "../../parts/button.tsx";
import { useSearchChange } from "../../parts/change-search.ts";
import { OutsideText } from "../../parts/outside-text.tsx";
import { Page } from "../../parts/page.tsx";
import { SplitView } from "../../parts/split-view.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { useCan, useMe } from "../../session/session.ts";
import { ConnectionFilters, type ConnectionsSearch, noFilters, toStatus } from "./connections/connection-filters.tsx";
import { ConnectionTable } from "./connections/connection-table.tsx";
import { NoConnections } from "./connections/no-connections.tsx";
import { CreateLinkDialog } from "./create-link-dialog.tsx";

interface ListProps {
  readonly agent: string;
  readonly search: ConnectionsSearch & { readonly env?: string | undefined };
  readonly onClear: () => void;
}

function ConnectionList({ agent, search, onClear }: ListProps) {
  const { user, tool, status, env } = search;
  const filter = { user_id: user, tool, status: toStatus(status), environment: env };
  const query = useInfiniteQuery(connectionListQuery(agent, filter));
  if (isNotFound(query.error)) return <NoSuchAgent agent={agent} />;
  const isFiltered = [user, tool, status, env].some((value) => value !== undefined);
  return (
    <>
      {env !== undefined && (
        <p className="border-line border-b px-4 py-2 text-muted text-table">
          Only connections that runs in <OutsideText text={env} /> use, or will use once their user has consented.
        </p>
      )}
      <PagedList
        query={query}
        what="connections"
        place={{ listing: JSON.stringify(filter), idOf: ({ id }) => id }}
        empty={<NoConnections agent={agent} isFiltered={isFiltered} onClear={onClear} />}
      >
        {(connections) => <ConnectionTable agent={agent} connections={connections} />}
      </PagedList>
    </>
  );
}

/** The accounts that users have connected with an agent, with one of them beside the list. */
export function Connections() {
  const changeSearch = useSearchChange();
  const search = useSearch({ from: "/signed-in/connections" });
  const { agent: openAgent, connection } = useParams({ strict: false });
  const onlyAgent = useMe().key.agent_id;
  const agent = openAgent ?? search.agent ?? onlyAgent ?? undefined;
  const nameOf = useAgentName();
  const mayWrite = useCan("write");
  const [isCreating, setIsCreating] = useState(false);
  const change = (filters: Partial<ConnectionsSearch> & { readonly env?: string | undefined }) =>
    // Another agent has other connections, so the open one is closed.
    changeSearch(filters, { to: "agent" in filters ? "/connections" : "." });
  const list = (
    <Page
      title={
        agent === undefined ? (
          "Connections"
        ) : (
          <>
            Connections of <OutsideText text={nameOf(agent)} />
          </>
        )
      }
      tabTitle={agent === undefined ? "Connections" : `Connections of ${visibleText(nameOf(agent))}`}
      actions={
        mayWrite &&
        agent !== undefined && (
          <Button kind="primary" onClick={() => setIsCreating(true)}>
            Create link
          </Button>
        )
      }
      below={<ConnectionFilters search={search} agent={agent} isFixed={onlyAgent !== null} onChange={change} />}
    >
      {agent === undefined ? (
        <ChooseAgent title="Whose connections?">
          Accounts that users connected belong to one agent: a mailbox, a calendar, a repository that it uses in their
          name.
        </ChooseAgent>
      ) : (
        <ConnectionList
          key={agent}
          agent={agent}
          search={search}
          onClear={() => change({ ...noFilters, env: undefined })}
        />
      )}
      {agent !== undefined && <CreateLinkDialog open={isCreating} onClose={() => setIsCreating(false)} agent={agent} />}
    </Page>
  );
  return <SplitView list={list} detail={connection === undefined ? undefined : <Outlet />} />;
}
