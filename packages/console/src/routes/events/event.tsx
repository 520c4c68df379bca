import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { eventQuery } from "../../api/events-queries.ts";
import { isNotFound } from "../../api/is-not-found.ts";
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
import { EventSubject } from "./event-subject.tsx";

/** One event: its subject, and the payload that webhooks get. */
export function EventPage() {
  const { event: id } = useParams({ from: "/signed-in/events/$event" });
  const navigate = useNavigate();
  const nameOf = useAgentName();
  const { data: event, error, refetch } = useQuery(eventQuery(id));
  const agent = event?.agent_id === null || event === undefined ? undefined : nameOf(event.agent_id);
  const isMissing = isNotFound(error);
  return (
    <DetailPane
      title={
        <span className="flex flex-wrap items-center gap-x-2">
          {event ? <span className="font-mono text-table">{event.type}</span> : "Event"}
          <IdText id={id} what="the id of the event" />
        </span>
      }
      what="the event"
      onClose={() => void navigate({ to: "/events", search: keepSearch(), resetScroll: false })}
    >
      <div className="flex flex-col gap-3">
        {event && (
          <>
            <Facts>
              {agent !== undefined && (
                <Fact name="Agent">
                  <Link to="/agents/$agent" params={{ agent }} className={textLinkClass}>
                    <OutsideText text={agent} />
                  </Link>
                </Fact>
              )}
              <EventSubject event={event} agent={agent} />
              <Fact name="Created">
                <Ago at={event.created_at} />
              </Fact>
            </Facts>
            <ContentView title="Payload" what="the payload" value={event} />
          </>
        )}
        {!event && !error && <Working what="the event" />}
        {isMissing && (
          <EmptyState title="There is no such event">
            <p>
              No event <OutsideText text={id} className="font-mono text-table" /> can be reached. Events are kept for 30
              days.
            </p>
          </EmptyState>
        )}
        {error && !isMissing && <ErrorNote error={error} onRetry={() => void refetch()} />}
      </div>
    </DetailPane>
  );
}
