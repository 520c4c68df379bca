import { describe, expect, test } from "vitest";
import { patchOf } from "./patch-of.ts";

const defaults = { limits: { max_steps: 20, max_tokens: 100_000 }, memory: { recall: false } };

describe("patchOf", () => {
  test("sends no unchanged field, whatever its order of keys", () => {
    const base = { model: "perch/echo", limits: { max_steps: 5, max_tokens: 7 } };
    expect(patchOf(base, { limits: { max_tokens: 7, max_steps: 5 }, model: "perch/echo" }, defaults)).toEqual({});
  });

  test("restores the default of a field that was removed", () => {
    expect(patchOf({ model: "perch/echo", temperature: 1 }, { model: "perch/echo" }, defaults)).toEqual({
      temperature: null,
    });
  });

  test("restores the default of a limit that was removed, though the API merges limits", () => {
    const base = { limits: { max_steps: 5, max_tokens: 7 } };
    expect(patchOf(base, { limits: { max_tokens: 7 } }, defaults)).toEqual({
      limits: { max_steps: 20, max_tokens: 7 },
    });
  });

  test("removes a block of security that was removed, and keeps the others", () => {
    const hsts = { enabled: true, maxAge: 60 };
    expect(patchOf({ security: { enforceHttps: true, hsts } }, { security: { hsts } }, defaults)).toEqual({
      security: { enforceHttps: null, hsts },
    });
  });
});
