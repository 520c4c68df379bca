import { expect, test } from "vitest";
import { createEmbeddingQueue } from "./embedding-queue.ts";

const ofRequest = (organisationId: string) => ({ organisationId, isBackground: false });
const ofBackground = (organisationId: string) => ({ organisationId, isBackground: true });
const drain = (queue: { next: () => string | undefined }, count = 1000) => {
  const taken: string[] = [];
  for (let item = queue.next(); item !== undefined && taken.length < count; item = queue.next()) taken.push(item);
  return taken;
};

test("organisations take turns, whatever each has queued", () => {
  const queue = createEmbeddingQueue<string>();
  for (let i = 1; i <= 100; i++) queue.add(`a${i}`, ofRequest("a"));
  queue.add("b1", ofRequest("b"));
  queue.add("c1", ofRequest("c"));
  queue.add("b2", ofRequest("b"));
  expect(drain(queue).slice(0, 8)).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", "a4", "a5"]);
});

test("an organisation that comes later waits for one text of the first, not for all", () => {
  const queue = createEmbeddingQueue<string>();
  for (let i = 1; i <= 100; i++) queue.add(`a${i}`, ofRequest("a"));
  queue.next();
  queue.add("b1", ofRequest("b"));
  expect([queue.next(), queue.next()]).toEqual(["a2", "b1"]);
});

test("texts in the background wait until no request waits, but not for ever", () => {
  const queue = createEmbeddingQueue<string>();
  for (let i = 1; i <= 3; i++) queue.add(`later${i}`, ofBackground("a"));
  for (let i = 1; i <= 45; i++) queue.add("now", ofRequest("b"));
  const taken = drain(queue);
  expect(taken).toHaveLength(48);
  expect(taken.flatMap((item, index) => (item === "now" ? [] : [`${item} at ${index}`]))).toEqual([
    "later1 at 20",
    "later2 at 41",
    "later3 at 47",
  ]);
});

test("a text that leaves is not served, and learns if it is too late to leave", () => {
  const queue = createEmbeddingQueue<string>();
  const leaveFirst = queue.add("a1", ofRequest("a"));
  const leaveSecond = queue.add("a2", ofRequest("a"));
  const leaveOther = queue.add("b1", ofBackground("b"));
  expect(leaveSecond()).toBe(true);
  expect(leaveSecond()).toBe(false);
  expect(queue.next()).toBe("a1");
  expect(leaveFirst()).toBe(false);
  expect(leaveOther()).toBe(true);
  expect(queue.next()).toBeUndefined();
  queue.add("a3", ofRequest("a"));
  expect(drain(queue)).toEqual(["a3"]);
});
