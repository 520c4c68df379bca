import { expect, test } from "vitest";
import { toLoggedError } from "./logger.ts";

test("an error of PostgreSQL is logged without the texts of rows that it quotes", () => {
  const error = Object.assign(new Error("invalid input syntax for type json"), {
    code: "22P02",
    detail: 'Token "Ada\'s diary" is invalid.',
    where: "JSON data, line 1: Ada's diary",
    internalQuery: "select 'Ada''s diary'",
  });
  const logged = toLoggedError(error);
  expect(logged).toMatchObject({ message: error.message, code: "22P02", stack: expect.any(String) });
  expect(JSON.stringify(logged)).not.toContain("diary");
  expect(toLoggedError("a text")).toBe("a text");
});
