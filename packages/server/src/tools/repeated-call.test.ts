import { describe, expect, test } from "vitest";
import { findMostRepeatedCall } from "./repeated-call.ts";

const call = (name: string, args: unknown) => ({ name, arguments: args });

describe("the call repeated most", () => {
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

  test("the order of a list, the tool's name and the type of a value make another call", () => {
    const calls = [
      call("a", [1, 2]),
      call("a", [2, 1]),
      call("b", [1, 2]),
      call("a", ["1", "2"]),
      call("a", undefined),
    ];
    expect(findMostRepeatedCall(calls)).toEqual({ name: "a", times: 1 });
  });

  test("names the first of several, and nothing when nothing was called", () => {
    expect(findMostRepeatedCall([call("b", 1), call("a", 1), call("a", 1), call("b", 1)])).toEqual({
      name: "b",
      times: 2,
    });
    expect(findMostRepeatedCall([])).toEqual({ name: "", times: 0 });
  });
});
