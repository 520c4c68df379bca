import type { Webhook } from "@perch/sdk";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, Outlet, useParams, useSearch } from "@tanstack/react-router";
import { isNotFound } from "../../api/is-not-found.ts";
import { deliveriesQuery, webhookQuery } from "../../api/webhooks-queries.ts";
import { PagedList } from "../../lists/paged-list.tsx";
import { useSearchChange } from "../../parts/change-search.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { FilterBar, SelectFilter } from "../../parts/filters.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { Page } from "../../parts/page.tsx";
import { SplitView } from "../../parts/split-view.tsx";
import { textLinkClass } from "../../parts/text-link.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { Working } from "../../parts/working.tsx";
import { eventNameOf, eventNames } from "./event-types.ts";
import { DeliveryTable } from "./webhook/delivery-table.tsx";
import { WebhookActions } from "./webhook/webhook-actions.tsx";
import { WebhookFacts } from "./webhook/webhook-facts.tsx";

const statuses = ["pending", "delivered", "failed", "cancelled"] as const;

interface DeliverySearch {
  readonly delivery_status?: string | undefined;
  readonly event_type?: string | undefined;
}

interface FiltersProps {
  readonly search: DeliverySearch;
  readonly onChange: (change: DeliverySearch) => void;
}

const Filters = ({ search, onChange }: FiltersProps) => (
  <FilterBar
    count={[search.delivery_status, search.event_type].filter(Boolean).length}
    onClear={() => onChange({ delivery_status: undefined, event_type: undefined })}
  >
    <SelectFilter
      label="Status of the delivery"
      any="Any status"
      value={search.delivery_status}
      onChange={(delivery_status) => onChange({ delivery_status })}
      options={statuses}
    />
    <SelectFilter
      label="Event"
      any="Any event"
      value={search.event_type}
      onChange={(event_type) => onChange({ event_type })}
      options={eventNames}
    />
  </FilterBar>
);

function Deliveries({
  webhook,
  search,
  openId,
}: {
  readonly webhook: string;
  readonly search: DeliverySearch;
  readonly openId: string | undefined;
}) {
  const filter = {
    status: statuses.find((status) => status === search.delivery_status),
    event_type: eventNameOf(search.event_type),
  };
  const query = useInfiniteQuery(deliveriesQuery(webhook, filter));
  const isFiltered = filter.status !== undefined || filter.event_type !== undefined;
  return (
    <PagedList
      query={query}
      what="deliveries"
      place={{ listing: JSON.stringify([webhook, filter]), idOf: ({ id }) => id }}
      empty={
        <EmptyState title={isFiltered ? "No delivery matches" : "No deliveries yet"}>
          <p>
            {isFiltered
              ? "No delivery of the last 30 days has this status and event."
              : "Each event that is sent to this address is listed here for 30 days, with every attempt. Send a test event to see one."}
          </p>
        </EmptyState>
      }
    >
      {(deliveries) => <DeliveryTable deliveries={deliveries} openId={openId} />}
    </PagedList>
  );
}

const NoWebhook = ({ id }: { readonly id: string }) => (
  <EmptyState title="There is no such webhook">
    <p>
      No webhook <OutsideText text={id} className="font-mono text-table" /> can be reached. It may have been deleted, or
      belong to another organisation.{" "}
      <Link to="/webhooks" className={textLinkClass}>
        All webhooks
      </Link>
    </p>
  </EmptyState>
);

const titleOf = (webhook: Webhook | undefined): string => (webhook ? visibleText(webhook.url) : "Webhook");

/** One webhook: whether its receiver accepts its deliveries, and every delivery. */
export function WebhookPage() {
  const { webhook: id } = useParams({ from: "/signed-in/webhooks/$webhook" });
  const { delivery } = useParams({ strict: false });
  const search = useSearch({ from: "/signed-in/webhooks/$webhook" });
  const { data: webhook, error, refetch } = useQuery(webhookQuery(id));
  const isMissing = isNotFound(error);
  const change = useSearchChange<DeliverySearch>();
  const list = (
    <Page
      title={titleOf(webhook)}
      actions={webhook && <WebhookActions key={id} webhook={webhook} />}
      below={
        webhook && (
          <>
            <WebhookFacts webhook={webhook} />
            <Filters search={search} onChange={change} />
          </>
        )
      }
    >
      {webhook && <Deliveries webhook={id} search={search} openId={delivery} />}
      {!webhook && !error && <Working what="the webhook" />}
      {isMissing && <NoWebhook id={id} />}
      {error && !isMissing && !webhook && (
        <div className="p-4">
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      )}
    </Page>
  );
  return <SplitView list={list} detail={delivery === undefined ? undefined : <Outlet />} />;
}
