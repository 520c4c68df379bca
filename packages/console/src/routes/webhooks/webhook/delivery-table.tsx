import type { Delivery } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { Ago } from "../../../parts/ago.tsx";
import { ArrowRows } from "../../../parts/arrow-rows.tsx";
import { keepSearch } from "../../../parts/change-search.ts";
import { Cell, RowName, roomyOnly, Table, tightOnly } from "../../../parts/table.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { DeliveryState } from "../delivery/delivery-state.tsx";

const columns = [
  { title: "Event" },
  { title: "Status", className: "w-28" },
  { title: "Answer", className: roomyOnly },
  { title: "Attempts", className: `w-20 text-right ${roomyOnly}` },
  { title: "Next attempt", className: `w-28 text-right ${roomyOnly}` },
  { title: "Created", className: "w-24 text-right" },
];

/** The receiver's last answer, or the reason why there was none. */
const answerOf = ({ status_code, error }: Delivery): string =>
  visibleText(error ?? (status_code ? String(status_code) : "–"));

interface RowProps {
  readonly delivery: Delivery;
  readonly isOpen: boolean;
}

const Row = ({ delivery, isOpen }: RowProps) => (
  <tr className={`relative ${isOpen ? "bg-accent-soft" : "hover:bg-sunken"}`}>
    <RowName className="max-w-0">
      <Link
        to="/webhooks/$webhook/deliveries/$delivery"
        params={{ webhook: delivery.webhook_id, delivery: delivery.id }}
        search={keepSearch()}
        resetScroll={false}
        data-row
        aria-current={isOpen ? "true" : undefined}
        className="block truncate font-mono text-small after:absolute after:inset-0 after:content-['']"
      >
        {delivery.event_type}
        {delivery.redelivery_of !== null && <span className="font-sans text-muted"> again</span>}
      </Link>
      <span className={`block truncate text-muted text-small ${tightOnly}`}>
        {answerOf(delivery)}
        {delivery.attempts > 1 && `, ${delivery.attempts} attempts`}
      </span>
    </RowName>
    <Cell>
      <DeliveryState status={delivery.status} />
    </Cell>
    <Cell className={`max-w-0 truncate text-muted ${roomyOnly}`}>
      <span title={answerOf(delivery)}>{answerOf(delivery)}</span>
    </Cell>
    <Cell className={`text-right font-mono text-small ${roomyOnly}`}>{delivery.attempts}</Cell>
    <Cell className={`text-right text-muted ${roomyOnly}`}>
      {delivery.next_attempt_at === null ? "–" : <Ago at={delivery.next_attempt_at} />}
    </Cell>
    <Cell className="text-right text-muted">
      <Ago at={delivery.created_at} />
    </Cell>
  </tr>
);

interface DeliveryTableProps {
  readonly deliveries: readonly Delivery[];
  readonly openId: string | undefined;
}

export const DeliveryTable = ({ deliveries, openId }: DeliveryTableProps) => (
  <ArrowRows>
    <Table caption="Deliveries, newest first" columns={columns}>
      {deliveries.map((delivery) => (
        <Row key={delivery.id} delivery={delivery} isOpen={delivery.id === openId} />
      ))}
    </Table>
  </ArrowRows>
);
