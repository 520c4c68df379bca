import type { Delivery } from "@perch/sdk";

/** A receiver that fails disables its webhook in the end, and somebody may look at that. */
export const quietPollMs = 15_000;
const pendingPollMs = 5000;
/** Whoever has just sent something waits for its first attempt. */
const newPollMs = 1500;
const newMs = 15_000;

type Waiting = Pick<Delivery, "status" | "next_attempt_at">;

/** One that waits for hours is not asked for every few seconds. */
const isDue = ({ status, next_attempt_at }: Waiting, now: number): boolean =>
  status === "pending" && (next_attempt_at === null || Date.parse(next_attempt_at) < now + 10_000);

/** A busy webhook always has one that is due. Every page that was loaded is read again, so more of them are read less often. */
export const deliveriesPollMs = (pages: readonly { readonly data: readonly Waiting[] }[], now: number): number =>
  Math.max(1, pages.length) *
  (pages.some(({ data }) => data.some((delivery) => isDue(delivery, now))) ? pendingPollMs : quietPollMs);

/** False: it does not change any more. */
export function deliveryPollMs(delivery: Waiting & Pick<Delivery, "created_at">, now: number): number | false {
  if (delivery.status !== "pending") return false;
  if (!isDue(delivery, now)) return quietPollMs;
  return now - Date.parse(delivery.created_at) < newMs ? newPollMs : pendingPollMs;
}
