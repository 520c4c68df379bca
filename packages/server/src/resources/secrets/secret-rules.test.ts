import { describe, expect, test } from "vitest";
import { addsHost, normaliseHosts, originOf } from "./secret-rules.ts";

describe("normaliseHosts", () => {
  test.each([
    ["api.github.com", "api.github.com", "https://api.github.com"],
    ["https://api.github.com", "api.github.com", "https://api.github.com"],
    ["api.github.com:443", "api.github.com", "https://api.github.com"],
    ["tools.example:8443", "tools.example:8443", "https://tools.example:8443"],
    ["https://tools.example:80", "tools.example:80", "https://tools.example:80"],
    ["http://127.0.0.1:3000", "http://127.0.0.1:3000", "http://127.0.0.1:3000"],
    ["http://tools.example:80", "http://tools.example", "http://tools.example"],
    ["0x7f.1", "127.0.0.1", "https://127.0.0.1"],
    ["[0:0::1]:8443", "[::1]:8443", "https://[::1]:8443"],
  ])("%s is stored as %s and stands for %s", (given, stored, origin) => {
    expect(normaliseHosts([given])).toEqual([stored]);
    expect(originOf(stored)).toBe(origin);
  });

  test("two spellings of one origin are one host", () => {
    expect(normaliseHosts(["a.example", "https://a.example:443", "http://a.example"])).toEqual([
      "a.example",
      "http://a.example",
    ]);
  });

  test.each(["a.example:70000", "256.256.256.256", "[::g]"])("%s is refused by its place", (host) => {
    expect(() => normaliseHosts(["a.example", host])).toThrow(
      expect.objectContaining({ details: [expect.objectContaining({ field: "hosts.1" })] }),
    );
  });
});

describe("addsHost", () => {
  test.each([
    [["a.example"], ["a.example"], false],
    [["a.example", "b.example"], ["b.example"], false],
    [["a.example", "b.example"], ["b.example", "a.example"], false],
    [["a.example"], ["a.example", "b.example"], true],
    [["a.example"], ["a.example:8443"], true],
    [["a.example"], ["http://a.example"], true],
    [["a.example"], ["sub.a.example"], true],
  ])("%j to %j: %s", (before, after, adds) => {
    expect(addsHost(before, after)).toBe(adds);
  });
});
