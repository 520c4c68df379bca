import type { Delivery } from "@perch/sdk";

/** A webhook is disabled in the end if its receiver keeps failing, and the viewer may be watching for that. */
export const quietPollMs = 15_000;
const pendingPollMs = 5000;
/** A user who has just sent an event is waiting for its first attempt. */
const newPollMs = 1500;
const newMs = 15_000;

type Waiting = Pick<Delivery, "status" | "next_attempt_at">;

/** A delivery that waits for hours is not polled every few seconds. */
const isDue = ({ status, next_attempt_at }: Waiting, now: number): boolean =>
  status === "pending" && (next_attempt_at === null || Date.parse(next_attempt_at) < now + 10_000);

/** A busy webhook always has a delivery that is due. A poll reads every loaded page again, so more pages mean fewer polls. */
export const deliveriesPollMs = (pages: readonly { readonly data: readonly Waiting[] }[], now: number): number =>
  Math.max(1, pages.length) *
  (pages.some(({ data }) => data.some((delivery) => isDue(delivery, now))) ? pendingPollMs : quietPollMs);

/** False if the delivery does not change any more. */
export function deliveryPollMs(delivery: Waiting & Pick<Delivery, "created_at">, now: number): number | false {
  if (delivery.status !== "pending") return false;
  if (!isDue(delivery, now)) return quietPollMs;
  return now - Date.parse(delivery.created_at) < newMs ? newPollMs : pendingPollMs;
}
