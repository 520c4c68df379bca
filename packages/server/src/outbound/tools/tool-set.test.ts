import { describe, expect, test } from "vitest";
import { namesForModel } from "./tool-set.ts";

describe("the names of MCP tools", () => {
  test("contain only characters that models accept, and end in a hash when too long or not unique", () => {
    const wanted = [
      { server: "shop", tool: "a.b" },
      { server: "shop", tool: "a/b" },
      { server: "shop", tool: "find é" },
      { server: "shop", tool: "x".repeat(80) },
      { server: "shop", tool: "pay" },
    ];
    const names = namesForModel(wanted, ["shop_pay"]);
    expect(names).toEqual([
      expect.stringMatching(/^shop_a_b_[0-9a-f]{8}$/),
      expect.stringMatching(/^shop_a_b_[0-9a-f]{8}$/),
      "shop_find__",
      expect.stringMatching(/^shop_x{50}_[0-9a-f]{8}$/),
      expect.stringMatching(/^shop_pay_[0-9a-f]{8}$/),
    ]);
    expect(new Set(names).size).toBe(5);
    expect(namesForModel(wanted.toReversed(), ["shop_pay"]).toReversed()).toEqual(names);
  });
});
