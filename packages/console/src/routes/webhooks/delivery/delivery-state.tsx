import type { Delivery } from "@perch/sdk";
import { type MarkedStatus, StatusMark } from "../../../parts/status-mark.tsx";

const marks = {
  pending: "pending",
  delivered: "completed",
  failed: "failed",
  cancelled: "cancelled",
} as const satisfies Record<Delivery["status"], MarkedStatus>;

export const DeliveryState = ({ status }: { readonly status: Delivery["status"] }) => (
  <StatusMark status={marks[status]} word={status} />
);
