import { describe, expect, test } from "vitest";
import { changedLines } from "./changed-lines.ts";

const shown = (from: string | undefined, to: string | undefined) =>
  changedLines(from, to).map(({ kind, text }) => `${kind} ${text}`);

describe("changedLines", () => {
  test("marks the line that changed, and keeps two lines around it", () => {
    expect(shown("a\nb\nc\nd\ne\nf", "a\nb\nc\nD\ne\nf")).toEqual([
      "same …",
      "same b",
      "same c",
      "removed d",
      "added D",
      "same e",
      "same f",
    ]);
  });

  test("a new field has only added lines, a removed one only removed lines", () => {
    expect(shown(undefined, "a\nb")).toEqual(["added a", "added b"]);
    expect(shown("a", undefined)).toEqual(["removed a"]);
  });

  test("an inserted line does not mark those after it", () => {
    expect(shown("a\nb", "a\nnew\nb")).toEqual(["same a", "added new", "same b"]);
  });
});
