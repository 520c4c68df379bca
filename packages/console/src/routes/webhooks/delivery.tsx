import type { DeliveryWithAttempts } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { eventQuery } from "../../api/events-queries.ts";
import { isNotFound } from "../../api/is-not-found.ts";
import { deliveryQuery } from "../../api/webhooks-queries.ts";
import { useAgentName } from "../../lists/use-agent-name.ts";
import { Ago } from "../../parts/ago.tsx";
import { keepSearch } from "../../parts/change-search.ts";
import { ContentView } from "../../parts/content-view.tsx";
import { DetailPane } from "../../parts/detail-pane.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Fact, Facts } from "../../parts/facts.tsx";
import { IdText } from "../../parts/id-text.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { textLinkClass } from "../../parts/text-link.ts";
import { Working } from "../../parts/working.tsx";
import { useCan } from "../../session/session.ts";
import { EventSubject } from "../events/event-subject.tsx";
import { AttemptList } from "./delivery/attempt-list.tsx";
import { DeliveryState } from "./delivery/delivery-state.tsx";
import { Redeliver } from "./delivery/redeliver.tsx";

const idClass = `${textLinkClass} font-mono text-small [overflow-wrap:anywhere]`;

function DeliveryBody({ delivery }: { readonly delivery: DeliveryWithAttempts }) {
  const { data: event, error, isPending, refetch } = useQuery(eventQuery(delivery.event_id));
  const nameOf = useAgentName();
  const agent = event && event.agent_id !== null ? nameOf(event.agent_id) : undefined;
  const isGone = isNotFound(error);
  return (
    <>
      <Facts>
        <Fact name="Event">
          <Link to="/events/$event" params={{ event: delivery.event_id }} className={idClass}>
            {delivery.event_id}
          </Link>
        </Fact>
        {event && <EventSubject event={event} agent={agent} />}
        {delivery.redelivery_of !== null && (
          <Fact name="Repeats">
            <Link
              to="/webhooks/$webhook/deliveries/$delivery"
              params={{ webhook: delivery.webhook_id, delivery: delivery.redelivery_of }}
              search={keepSearch()}
              className={idClass}
            >
              {delivery.redelivery_of}
            </Link>
          </Fact>
        )}
        <Fact name="Created">
          <Ago at={delivery.created_at} />
        </Fact>
        {delivery.next_attempt_at !== null && (
          <Fact name="Next attempt">
            <Ago at={delivery.next_attempt_at} />
          </Fact>
        )}
      </Facts>
      {delivery.status === "cancelled" && delivery.error !== null && (
        <OutsideText block text={delivery.error} className="text-table" />
      )}
      <AttemptList attempts={delivery.attempt_log} />
      {event && <ContentView title="Payload" what="the payload" value={event} />}
      {isPending && <Working what="the payload" />}
      {isGone && <p className="text-muted text-table">The event has expired: payloads are kept for 30 days.</p>}
      {error && !isGone && <ErrorNote error={error} onRetry={() => void refetch()} />}
    </>
  );
}

/** One delivery: every attempt, and the sent payload. */
export function DeliveryPage() {
  const { webhook, delivery: id } = useParams({ from: "/signed-in/webhooks/$webhook/deliveries/$delivery" });
  const navigate = useNavigate();
  const { data: delivery, error, refetch } = useQuery(deliveryQuery(webhook, id));
  const canWrite = useCan("write");
  const isMissing = isNotFound(error);
  const close = () =>
    void navigate({
      to: "/webhooks/$webhook",
      params: { webhook },
      search: keepSearch(),
      resetScroll: false,
    });
  return (
    <DetailPane
      title={
        <span className="flex flex-wrap items-center gap-x-2">
          {delivery ? <DeliveryState status={delivery.status} /> : "Delivery"}
          <IdText id={id} what="the id of the delivery" />
        </span>
      }
      what="the delivery"
      onClose={close}
      actions={delivery && canWrite && <Redeliver key={id} delivery={delivery} />}
    >
      <div className="flex flex-col gap-3">
        {delivery && <DeliveryBody key={id} delivery={delivery} />}
        {!delivery && !error && <Working what="the delivery" />}
        {isMissing && (
          <EmptyState title="There is no such delivery">
            <p>
              This webhook has no delivery <OutsideText text={id} className="font-mono text-table" />. Deliveries are
              kept for 30 days.
            </p>
          </EmptyState>
        )}
        {error && !isMissing && <ErrorNote error={error} onRetry={() => void refetch()} />}
      </div>
    </DetailPane>
  );
}
