import { describe, expect, test } from "vitest";
import { ApiError } from "../../platform/api-error.ts";
import { firstUuidAt, newUuid } from "../../platform/ids.ts";
import { fromRunCursor, timeWindows, toRunCursor, windowsOfRun } from "./run-list-rules.ts";

const nowMs = Date.parse("2026-03-20T15:00:00Z");
const windows = (times: Parameters<typeof timeWindows>[0]) =>
  timeWindows(times, nowMs).map(({ from, until }) => [
    from?.toISOString().slice(0, 16) ?? null,
    until.toISOString().slice(0, 16),
  ]);

describe("the times in which runs are looked for", () => {
  test("today and what a fast clock accepted, then a week, then everything before", () => {
    expect(windows({})).toEqual([
      ["2026-03-20T00:00", "2026-03-20T16:00"],
      ["2026-03-13T00:00", "2026-03-20T00:00"],
      [null, "2026-03-13T00:00"],
    ]);
  });

  test("begin with the day of the cursor or of the end, whichever is earlier, and stop at the start", () => {
    const before = firstUuidAt(new Date("2026-03-10T08:00:00Z"));
    expect(windows({ before, end_time: "2026-03-12T00:00:00Z", start_time: "2026-03-08T12:00:00Z" })).toEqual([
      ["2026-03-10T00:00", "2026-03-10T08:00"],
      ["2026-03-08T12:00", "2026-03-10T00:00"],
    ]);
  });

  test("an end at midnight begins with the day before it", () => {
    expect(windows({ end_time: "2026-03-12T00:00:00Z" })[0]).toEqual(["2026-03-11T00:00", "2026-03-12T00:00"]);
  });

  test("none, if the start is not before the end, or in the future", () => {
    expect(windows({ start_time: "2026-03-12T00:00:00Z", end_time: "2026-03-12T00:00:00Z" })).toEqual([]);
    expect(windows({ start_time: "2027-01-01T00:00:00Z" })).toEqual([]);
  });

  test("one run's is its own millisecond; none, if its id names the last time that an id can hold", () => {
    const from = new Date("2026-03-10T08:00:00Z");
    expect(windowsOfRun(firstUuidAt(from))).toEqual([{ from, until: new Date("2026-03-10T08:00:00.001Z") }]);
    expect(windowsOfRun("ffffffff-ffff-7fff-bfff-ffffffffffff")).toEqual([]);
  });

  test("follow each other without a gap, wherever the cursor is", () => {
    for (let hours = 0; hours < 24 * 40; hours += 7) {
      const before = firstUuidAt(new Date(nowMs - hours * 3_600_000));
      const found = timeWindows({ before }, nowMs);
      for (const [i, { until }] of found.slice(1).entries()) expect(found[i]?.from).toEqual(until);
      expect(found.at(-1)?.from).toBeNull();
    }
  });
});

test("a cursor is the id of a run, and everything else is refused", () => {
  const id = newUuid();
  expect(fromRunCursor(toRunCursor(id))).toBe(id);
  for (const wrong of ["", "x", `${toRunCursor(id)}A`, `${toRunCursor(id).slice(0, -1)}/`, toRunCursor("f".repeat(32))])
    expect(() => fromRunCursor(wrong), wrong).toThrow(ApiError);
});
