import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Instant } from "../src/envelopes.ts";

describe("a time in a request", () => {
  test.each([
    ["2026-01-31t12:00:00z", "2026-01-31T12:00:00Z"],
    ["2026-01-31T12:00:00z", "2026-01-31T12:00:00Z"],
    ["2026-01-31t12:00:00.5+02:00", "2026-01-31T12:00:00.5+02:00"],
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"],
  ])("%s is RFC 3339, whose letters may be in lower case", (text, read) => {
    expect(Instant.parse(text)).toBe(read);
    expect(Number.isNaN(Date.parse(Instant.parse(text)))).toBe(false);
  });

  test.each(["2026-01-31", "2026-01-31 12:00:00Z", "2026-01-31T12:00:00", "yesterday", "", 5, null])(
    "%j is refused with an example",
    (value) => {
      const [issue] = Instant.safeParse(value).error?.issues ?? [];
      expect(issue?.message).toBe("Expected a time such as 2026-01-31T12:00:00Z");
    },
  );

  test("is a date-time in the document", () => {
    expect(z.toJSONSchema(Instant, { io: "input" })).toMatchObject({ type: "string", format: "date-time" });
  });
});
