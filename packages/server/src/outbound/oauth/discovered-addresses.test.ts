import { describe, expect, test } from "vitest";
import { coversAddress, staticAddress } from "./protected-resource.ts";

describe("an address", () => {
  test.each([
    ["https://a.example/mcp?x=1#y", "https://a.example/mcp"],
    ["https://a.example", "https://a.example"],
    ["https://a.example/v1/rooms/{room}/book", "https://a.example/v1/rooms"],
    ["https://a.example/v1/room-{room}", "https://a.example/v1"],
    ["https://a.example/{room}", "https://a.example"],
  ])("has a part that no model fills in: %s", (url, expected) => expect(staticAddress(url)).toBe(expected));

  test.each([
    ["https://a.example", "https://a.example/x", true],
    ["https://a.example/x", "https://a.example/x", true],
    ["https://a.example/x/", "https://a.example/x", true],
    ["https://a.example/x", "https://a.example/x/", true],
    ["https://a.example/x", "https://a.example/x/y", true],
    ["https://a.example/x", "https://a.example/xy", false],
    ["https://a.example/x/y", "https://a.example/x", false],
    ["https://a.example:8443/", "https://a.example/x", false],
    ["http://a.example/", "https://a.example/x", false],
    ["https://a.example/X", "https://a.example/x", false],
    ["https://a.example/x%2fy", "https://a.example/x/y", false],
  ])("%s covers %s: %s", (resource, address, expected) => {
    expect(coversAddress(new URL(resource), new URL(address))).toBe(expected);
  });
});
