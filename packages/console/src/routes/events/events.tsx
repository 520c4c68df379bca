import type { Event } from "@perch/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, Outlet, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { eventsQuery } from "../../api/events-queries.ts";
import { AgentFilter } from "../../lists/agent-filter.tsx";
import { PagedList } from "../../lists/paged-list.tsx";
import { useAgentName } from "../../lists/use-agent-name.ts";
import { Ago } from "../../parts/ago.tsx";
import { ArrowRows } from "../../parts/arrow-rows.tsx";
import { keepSearch, useSearchChange } from "../../parts/change-search.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FilterBar, SelectFilter } from "../../parts/filters.tsx";
import { Page } from "../../parts/page.tsx";
import { SplitView } from "../../parts/split-view.tsx";
import { Cell, RowName, roomyOnly, Table, tightOnly } from "../../parts/table.tsx";
import { resolveRange } from "../../parts/time-range.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { eventNameOf, eventNames } from "../webhooks/event-types.ts";
import { WebhookTabs } from "../webhooks/webhook-tabs.tsx";

const columns = [
  { title: "Event" },
  { title: "Agent", className: `w-48 ${roomyOnly}` },
  { title: "Id", className: `w-72 ${roomyOnly}` },
  { title: "Created", className: "w-24 text-right" },
];

const Row = ({ event, isOpen }: { readonly event: Event; readonly isOpen: boolean }) => {
  const nameOf = useAgentName();
  const agent = event.agent_id === null ? "–" : visibleText(nameOf(event.agent_id));
  return (
    <tr className={`relative ${isOpen ? "bg-accent-soft" : "hover:bg-sunken"}`}>
      <RowName className="max-w-0">
        <Link
          to="/events/$event"
          params={{ event: event.id }}
          search={keepSearch()}
          resetScroll={false}
          data-row
          aria-current={isOpen ? "true" : undefined}
          className="block truncate font-mono text-small after:absolute after:inset-0 after:content-['']"
        >
          {event.type}
        </Link>
        <span className={`block truncate text-muted text-small ${tightOnly}`}>{agent}</span>
      </RowName>
      <Cell className={`max-w-48 truncate ${roomyOnly}`}>{agent}</Cell>
      <Cell className={`font-mono text-muted text-small ${roomyOnly}`}>{event.id}</Cell>
      <Cell className="text-right text-muted">
        <Ago at={event.created_at} />
      </Cell>
    </tr>
  );
};

/** A listing has a fixed start time while it is shown, because a moving one would be a new list each second. */
function useFilter() {
  const { agent, type, range } = useSearch({ from: "/signed-in/events" });
  return useMemo(() => {
    const { start, end } = resolveRange(range, new Date());
    return {
      agent_id: agent,
      type: eventNameOf(type),
      start_time: start.toISOString(),
      end_time: end?.toISOString(),
    };
  }, [agent, type, range]);
}

/** Every event that webhooks can receive, whether or not one did. */
export function Events() {
  const { agent, type } = useSearch({ from: "/signed-in/events" });
  const { event: openId } = useParams({ strict: false });
  const filter = useFilter();
  const query = useInfiniteQuery(eventsQuery(filter));
  const change = useSearchChange<{ readonly agent?: string | undefined; readonly type?: string | undefined }>();
  const count = [agent, type].filter(Boolean).length;
  const list = (
    <Page
      title="Events"
      below={
        <>
          <FilterBar count={count} onClear={() => change({ agent: undefined, type: undefined })}>
            <AgentFilter value={agent} onChange={(chosen) => change({ agent: chosen })} />
            <SelectFilter
              label="Event"
              any="Any event"
              value={type}
              onChange={(chosen) => change({ type: chosen })}
              options={eventNames}
            />
          </FilterBar>
          <WebhookTabs />
        </>
      }
    >
      <PagedList
        query={query}
        what="events"
        place={{ listing: JSON.stringify(filter), idOf: ({ id }) => id }}
        empty={
          <EmptyState title={count > 0 ? "No event matches" : "No events in this time range"}>
            <p>
              Runs that end, deployments, waiting approvals and connections that need their user make events, which are
              kept for 30 days. Choose a longer time range{count > 0 && ", or clear the filters"}.
            </p>
          </EmptyState>
        }
      >
        {(events) => (
          <ArrowRows>
            <Table caption="Events, newest first" columns={columns}>
              {events.map((event) => (
                <Row key={event.id} event={event} isOpen={event.id === openId} />
              ))}
            </Table>
          </ArrowRows>
        )}
      </PagedList>
    </Page>
  );
  return <SplitView list={list} detail={openId === undefined ? undefined : <Outlet />} />;
}
