import { expect, test } from "vitest";
import type { LogLine } from "../../../api/logs-queries.ts";
import { createLogLines, type LogLines } from "./log-lines.ts";

const line = (second: number, id = `id ${second}`): LogLine => ({
  id,
  timestamp: new Date(second * 1000).toISOString(),
  level: "info",
  message: `line ${second}`,
  metadata: { request_id: null },
});
const idsOf = (lines: LogLines) => lines.all().map(({ id }) => id);

test("a line that is in the log and in the stream is there once", () => {
  const lines = createLogLines();
  lines.add([line(3), line(4)]);
  lines.addOlder({ lines: [line(1), line(2), line(3)], olderCursor: "older" }, undefined);
  lines.add([line(4), line(5)]);
  expect(idsOf(lines)).toEqual(["id 1", "id 2", "id 3", "id 4", "id 5"]);
});

test("two lines with the same text and time are two lines", () => {
  const lines = createLogLines();
  lines.add([line(1, "a"), line(1, "b")]);
  expect(idsOf(lines)).toEqual(["a", "b"]);
});

test("the lines of a run that has just ended stand where they belong in time", () => {
  const lines = createLogLines();
  lines.add([line(1), line(3), line(5)]);
  lines.add([line(2), line(4), line(6)]);
  expect(idsOf(lines)).toEqual(["id 1", "id 2", "id 3", "id 4", "id 5", "id 6"]);
});

test("the oldest lines are dropped beyond the limit, and the first remaining one leads back to them", () => {
  const lines = createLogLines(3);
  lines.addOlder({ lines: [line(1), line(2)], olderCursor: null }, undefined);
  expect(lines.olderCursor()).toBeNull();
  lines.add([line(3), line(4), line(5)]);
  expect(idsOf(lines)).toEqual(["id 3", "id 4", "id 5"]);
  expect(lines.olderCursor()).toBe("id 3");
  // A line that was dropped can come back.
  lines.addOlder({ lines: [line(1), line(2)], olderCursor: null }, "id 3");
  expect(lines.count()).toBe(5);
});

test("older lines that the user loaded stay until the tail goes on", () => {
  const lines = createLogLines(3);
  lines.add([line(3), line(4), line(5)]);
  lines.addOlder({ lines: [line(1), line(2)], olderCursor: "more" }, undefined);
  expect(lines.count()).toBe(5);
  lines.trim();
  expect(idsOf(lines)).toEqual(["id 3", "id 4", "id 5"]);
});

test("an older page that arrives after the tail went on leaves no hole", () => {
  const lines = createLogLines(3);
  lines.addOlder({ lines: [line(5), line(6), line(7)], olderCursor: "id 5" }, undefined);
  lines.addOlder({ lines: [line(3), line(4)], olderCursor: "id 3" }, "id 5");
  lines.trim();
  lines.addOlder({ lines: [line(1), line(2)], olderCursor: "id 1" }, "id 3");
  expect(idsOf(lines)).toEqual(["id 5", "id 6", "id 7"]);
  expect(lines.olderCursor()).toBe("id 5");
});
