import type { Deployment } from "@perch/sdk";
import { expect, test } from "vitest";
import { isPageMissing, uniteDeployments } from "./loaded-time.ts";

const start = new Date("2026-01-02T00:00:00Z");
const within = { oldest: "2026-01-02T10:00:00Z", hasNextPage: true, isFetching: false, isError: false };

test("pages are loaded until one reaches beyond the time in sight", () => {
  expect(isPageMissing(within, start)).toBe(true);
  expect(isPageMissing({ ...within, oldest: "2026-01-01T23:00:00Z" }, start)).toBe(false);
  expect(isPageMissing({ ...within, hasNextPage: false }, start)).toBe(false);
});

test("a failed page is not requested in an endless loop", () => {
  expect(isPageMissing({ ...within, isError: true }, start)).toBe(false);
});

test("if two lists have the same deployment, the first list's counts", () => {
  const one = (id: string, status: string) => ({ id, status }) as Deployment;
  const united = uniteDeployments([one("a", "rolled_back")], [one("a", "active"), one("b", "active")]);
  expect(united).toHaveLength(2);
  expect(united).toEqual(expect.arrayContaining([one("a", "rolled_back"), one("b", "active")]));
});
