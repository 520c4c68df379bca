import { describe, expect, test } from "vitest";
import { nextLabel } from "./next-label.ts";

describe("nextLabel", () => {
  test("raises the last number of the newest label", () => {
    expect(nextLabel(["v9", "v8"])).toBe("v10");
    expect(nextLabel(["v1.4.0"])).toBe("v1.4.1");
    expect(nextLabel(["2026-rc3-beta"])).toBe("2026-rc4-beta");
  });

  test("begins with v1", () => {
    expect(nextLabel([])).toBe("v1");
  });

  test("passes over labels that exist, because deploying one would not deploy the draft", () => {
    expect(nextLabel(["v1", "v3", "v2"])).toBe("v4");
  });

  test("adds a number where there is none", () => {
    expect(nextLabel(["summer"])).toBe("summer-2");
  });
});
