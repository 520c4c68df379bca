import { Outlet, useParams, useSearch } from "@tanstack/react-router";
import { useSlowClock } from "../../parts/ago.tsx";
import { ArrowRows } from "../../parts/arrow-rows.tsx";
import { Button } from "../../parts/button.tsx";
import { useSearchChange } from "../../parts/change-search.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Page } from "../../parts/page.tsx";
import { SplitView } from "../../parts/split-view.tsx";
import { Working } from "../../parts/working.tsx";
import { type ApprovalsSearch, countFilters, noFilters } from "./approvals-search.ts";
import { ApprovalFilters } from "./list/approval-filters.tsx";
import { ApprovalRow } from "./list/approval-row.tsx";
import { nextOpen } from "./list/merge-rows.ts";
import { NoApprovals } from "./list/no-approvals.tsx";
import { useApprovalList } from "./list/use-approval-list.ts";
import { useQueueKeys } from "./list/use-queue-keys.ts";
import { QueueContext } from "./queue-context.ts";

type Change = ApprovalsSearch & { readonly env?: string | undefined };

/** The approvals that wait for a person, newest first, with one of them beside the list. */
export function Approvals() {
  const search = useSearch({ from: "/signed-in/approvals" });
  const { approval: selected } = useParams({ strict: false });
  const { pages, rows, newCount, refresh } = useApprovalList();
  const now = useSlowClock();
  const change = useSearchChange<Change>();
  const queue = useQueueKeys(rows, selected);
  const next = nextOpen(rows, selected);
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = pages;
  const list = (
    <Page
      title="Approvals"
      tabTitle={selected === undefined ? "Approvals" : "Approval"}
      actions={
        <>
          <div role="status" className="h-8">
            {newCount > 0 && (
              <Button className="border-accent! text-accent!" onClick={refresh}>
                {newCount >= 100 ? "100 or more" : newCount} new
              </Button>
            )}
          </div>
          {selected === undefined && next !== undefined && (
            <Button kind="primary" onClick={() => queue.open(next)}>
              Open next approval
            </Button>
          )}
        </>
      }
      below={<ApprovalFilters search={search} onChange={change} onClear={() => change(noFilters)} />}
    >
      <div className="@container">
        {error && (
          <div className="p-4">
            <ErrorNote error={error} onRetry={() => void refetch()} />
          </div>
        )}
        {!data && !error && <Working what="approvals" />}
        {data && rows.length === 0 && !hasNextPage && (
          <NoApprovals
            isFiltered={countFilters(search) > 0 || search.env !== undefined}
            onClear={() => change({ ...noFilters, env: undefined })}
          />
        )}
        {rows.length > 0 && (
          <ArrowRows>
            <ul aria-label="Approvals">
              {rows.map((row) => (
                <ApprovalRow key={row.approval.id} row={row} isSelected={row.approval.id === selected} now={now} />
              ))}
            </ul>
          </ArrowRows>
        )}
        {hasNextPage && (
          <p className="flex flex-wrap items-center gap-3 px-4 py-3 text-muted text-table">
            {rows.length === 0 && <span>None of the newest match. There are older ones.</span>}
            <Button working={isFetchingNextPage} onClick={() => void fetchNextPage()}>
              Show more approvals
            </Button>
          </p>
        )}
      </div>
    </Page>
  );
  return (
    <QueueContext value={queue}>
      <SplitView list={list} detail={selected === undefined ? undefined : <Outlet />} />
    </QueueContext>
  );
}
