import { expect, test } from "vitest";
import { deliveriesPollMs, deliveryPollMs } from "./delivery-polls.ts";

const now = Date.parse("2026-11-17T04:00:00Z");
const at = (seconds: number): string => new Date(now + seconds * 1000).toISOString();
const due = { status: "pending", next_attempt_at: at(1), created_at: at(-60) } as const;
const later = { ...due, next_attempt_at: at(3600) };
const delivered = { ...due, status: "delivered", next_attempt_at: null } as const;
const perMinute = (pollMs: number | false): number => (pollMs === false ? 0 : 60_000 / pollMs);

test("the open page of a busy webhook sends less than 26 requests a minute, with any number of pages", () => {
  for (const pages of [1, 2, 5]) {
    const requests = pages * perMinute(deliveriesPollMs(Array(pages).fill({ data: [delivered, due] }), now));
    expect(requests + perMinute(deliveryPollMs(due, now))).toBeLessThan(26);
  }
});

test("a delivery with a long wait is polled as seldom as a finished one", () => {
  expect(deliveriesPollMs([{ data: [later, delivered] }], now)).toBe(15_000);
  expect(deliveriesPollMs([], now)).toBe(15_000);
  expect(deliveryPollMs(later, now)).toBe(15_000);
});

test("a new delivery is polled often, and one that has ended not at all", () => {
  expect(deliveryPollMs({ ...due, created_at: at(-1) }, now)).toBe(1500);
  expect(deliveryPollMs(delivered, now)).toBe(false);
});
