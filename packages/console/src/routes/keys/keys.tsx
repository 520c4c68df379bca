import { useInfiniteQuery } from "@tanstack/react-query";
import { Outlet, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { keyListQuery } from "../../api/keys-queries.ts";
import { AgentFilter } from "../../lists/agent-filter.tsx";
import { PagedList } from "../../lists/paged-list.tsx";
import { Button } from "../../parts/button.tsx";
import { useSearchChange } from "../../parts/change-search.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FilterBar, SelectFilter } from "../../parts/filters.tsx";
import { Page } from "../../parts/page.tsx";
import { SplitView } from "../../parts/split-view.tsx";
import { CreateKeyDialog } from "./keys/create-key-dialog.tsx";
import { KeyTable } from "./keys/key-table.tsx";

const statuses = ["active", "expired", "revoked"] as const;
type Status = (typeof statuses)[number];

const toStatus = (text: string | undefined): Status | undefined => statuses.find((status) => status === text);

const NoKeys = ({ onClear }: { readonly onClear: () => void }) => (
  <EmptyState title="No key matches">
    <p>Keys of programs and people are listed here. No key matches the filters.</p>
    <div>
      <Button onClick={onClear}>Clear the filters</Button>
    </div>
  </EmptyState>
);

function KeyList() {
  const { agent, status } = useSearch({ from: "/signed-in/keys" });
  const query = useInfiniteQuery(keyListQuery({ agent_id: agent, status: toStatus(status) }));
  const [isCreating, setIsCreating] = useState(false);
  const change = useSearchChange<{ agent?: string | undefined; status?: string | undefined }>();
  const clear = () => change({ agent: undefined, status: undefined });
  return (
    <Page
      title="Keys"
      actions={
        <Button kind="primary" onClick={() => setIsCreating(true)}>
          Create key
        </Button>
      }
      below={
        <FilterBar count={[agent, status].filter(Boolean).length} onClear={clear}>
          <AgentFilter value={agent} onChange={(value) => change({ agent: value })} />
          <SelectFilter
            label="Status"
            any="Any status"
            value={toStatus(status)}
            onChange={(value) => change({ status: value })}
            options={statuses}
          />
        </FilterBar>
      }
    >
      <PagedList query={query} what="keys" empty={<NoKeys onClear={clear} />}>
        {(keys) => <KeyTable keys={keys} />}
      </PagedList>
      <CreateKeyDialog open={isCreating} onClose={() => setIsCreating(false)} agent={agent} />
    </Page>
  );
}

/** The API keys of the organisation, with one of them beside the list. */
export function Keys() {
  const { key } = useParams({ strict: false });
  return <SplitView list={<KeyList />} detail={key === undefined ? undefined : <Outlet />} />;
}
