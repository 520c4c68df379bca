import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLogger } from "../platform/logger.ts";
import { runSweeps } from "./run-sweeps.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const logger = createLogger("silent");
const sweep = (everySeconds: number, run: () => Promise<void>) => ({
  name: `every ${everySeconds} s`,
  everySeconds,
  run,
});

test("each runs at its interval, and one that fails goes on", async () => {
  const second = vi.fn(async () => undefined);
  const fifth = vi.fn(async () => {
    throw new Error("not now");
  });
  const sweeps = runSweeps([sweep(1, second), sweep(5, fifth)], logger);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([second.mock.calls.length, fifth.mock.calls.length]).toEqual([10, 2]);
  await sweeps.stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(second).toHaveBeenCalledTimes(10);
});

test("a slow one does not run twice at the same time, holds up no other, and is waited for at the end", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = vi.fn(() => promise);
  const quick = vi.fn(async () => undefined);
  const sweeps = runSweeps([sweep(1, slow), sweep(1, quick)], logger);
  await vi.advanceTimersByTimeAsync(3000);
  expect([slow.mock.calls.length, quick.mock.calls.length]).toEqual([1, 3]);
  let isStopped = false;
  const stopped = sweeps.stop().then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  expect(isStopped).toBe(false);
  resolve();
  await stopped;
});
