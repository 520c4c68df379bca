import type { ApprovalSummary } from "@perch/sdk";
import { expect, test } from "vitest";
import { mergeRows, nextOpen } from "./merge-rows.ts";

const approval = (id: string, status: ApprovalSummary["status"] = "open") => ({ id, status }) as ApprovalSummary;
const page = (ids: readonly string[], next_cursor: string | null = null) => ({
  data: ids.map((id) => approval(id)),
  pagination: { next_cursor },
});
const listed = ["appr_4", "appr_3", "appr_2", "appr_1"].map((id) => approval(id));
const gone = (rows: ReturnType<typeof mergeRows>["rows"]) =>
  rows.filter(({ isGone }) => isGone).map(({ approval: { id } }) => id);

test("rows keep their places while others are added and decided", () => {
  const { rows, newCount } = mergeRows(listed, page(["appr_6", "appr_5", "appr_4", "appr_2", "appr_1"]));
  expect(rows.map(({ approval: { id } }) => id)).toEqual(["appr_4", "appr_3", "appr_2", "appr_1"]);
  expect(gone(rows)).toEqual(["appr_3"]);
  expect(newCount).toBe(2);
});

test("rows below the newest page are left unchanged", () => {
  expect(gone(mergeRows(listed, page(["appr_4", "appr_2"], "appr_2")).rows)).toEqual(["appr_3"]);
  expect(gone(mergeRows(listed, undefined).rows)).toEqual([]);
});

test("in an empty list everything is new", () => {
  expect(mergeRows([], page(["appr_1"])).newCount).toBe(1);
});

test("in a list of one environment, those of others are neither shown nor counted as new", () => {
  const inProduction = (id: string) => ({ ...approval(id), environment: "production" });
  const inStaging = (id: string) => ({ ...approval(id), environment: "staging" });
  const newest = {
    data: [inProduction("appr_5"), inStaging("appr_4"), inProduction("appr_3"), inStaging("appr_1")],
    pagination: { next_cursor: null },
  };
  const merged = mergeRows([inProduction("appr_3"), inStaging("appr_2"), inStaging("appr_1")], newest, "staging");
  expect(merged.rows.map(({ approval: { id } }) => id)).toEqual(["appr_2", "appr_1"]);
  expect(gone(merged.rows)).toEqual(["appr_2"]);
  expect(merged.newCount).toBe(1);
});

test("after a decision the next open one follows, after the last the first", () => {
  const { rows } = mergeRows(listed, page(["appr_4", "appr_3", "appr_1"]));
  expect(nextOpen(rows, undefined)).toBe("appr_4");
  expect(nextOpen(rows, "appr_3")).toBe("appr_1");
  expect(nextOpen(rows, "appr_1")).toBe("appr_4");
  expect(nextOpen(rows.slice(0, 1), "appr_4")).toBe(undefined);
});
