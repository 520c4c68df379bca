import { describe, expect, test } from "vitest";
import { findMostRepeatedCall } from "./repeated-calls.ts";

const call = (name: string, args: unknown) => ({ name, arguments: args });

describe("findMostRepeatedCall", () => {
  test("counts calls of one tool with the same arguments, whatever the order of their keys", () => {
    expect(
      findMostRepeatedCall([
        call("search", { q: "a", page: { from: 1, to: 2 } }),
        call("search", { q: "b" }),
        call("search", { page: { to: 2, from: 1 }, q: "a" }),
        call("find", { q: "b" }),
      ]),
    ).toEqual({ name: "search", times: 2 });
  });

  test("treats calls as different when list order, tool name or a value's type differs", () => {
    const calls = [
      call("a", [1, 2]),
      call("a", [2, 1]),
      call("b", [1, 2]),
      call("a", ["1", "2"]),
      call("a", undefined),
    ];
    expect(findMostRepeatedCall(calls)).toEqual({ name: "a", times: 1 });
  });

  test("returns the first of several with the same count, and an empty name without calls", () => {
    expect(findMostRepeatedCall([call("b", 1), call("a", 1), call("a", 1), call("b", 1)])).toEqual({
      name: "b",
      times: 2,
    });
    expect(findMostRepeatedCall([])).toEqual({ name: "", times: 0 });
  });
});
