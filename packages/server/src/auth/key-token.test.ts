import { crc32 } from "node:zlib";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { isWellFormedToken, newToken, tokenPrefix } from "./key-token.ts";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const fromBase62 = (digits: string) => [...digits].reduce((sum, digit) => sum * 62 + base62.indexOf(digit), 0);

describe("a new token", () => {
  test("is perch_, the cell 00, 38 random characters and 6 of the CRC32 of all before, in base62", () => {
    verifies("keys.format");
    const token = newToken();
    expect(token).toMatch(/^perch_00[0-9A-Za-z]{38}[0-9A-Za-z]{6}$/);
    expect(fromBase62(token.slice(-6))).toBe(crc32(token.slice(0, -6)));
    expect(isWellFormedToken(token)).toBe(true);
  });

  test("is never the same twice, and uses the whole alphabet", () => {
    const tokens = Array.from({ length: 1000 }, newToken);
    expect(new Set(tokens).size).toBe(1000);
    const drawn = new Set(tokens.flatMap((token) => [...token.slice(8, 46)]));
    expect([...drawn].sort().join("")).toBe([...base62].sort().join(""));
  });

  test("shows 6 of its 38 random characters in its prefix", () => {
    const token = newToken();
    expect(tokenPrefix(token)).toBe(token.slice(0, 14));
  });
});

describe("isWellFormedToken", () => {
  // Computed by another program. Issued keys have this format, so it must always be accepted.
  test.each([
    "perch_0000000000000000000000000000000000000000221UW6",
    "perch_00abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL2L4UK3",
  ])("accepts %s, as every release must", (token) => {
    expect(isWellFormedToken(token)).toBe(true);
  });

  test("refuses one changed character, whichever and wherever", () => {
    const token = newToken();
    let tried = 0;
    for (let at = 0; at < token.length; at++) {
      for (const other of `${base62}_- \n\0é`) {
        if (other === token.charAt(at)) continue;
        const changed = token.slice(0, at) + other + token.slice(at + 1);
        if (isWellFormedToken(changed)) expect.fail(`${changed} passed for ${token}`);
        tried++;
      }
    }
    expect(tried).toBeGreaterThan(52 * 60);
  });

  test("refuses one character lost or doubled, and two swapped", () => {
    const token = newToken();
    for (let at = 0; at < token.length; at++) {
      const [before, here, after] = [token.slice(0, at), token.charAt(at), token.slice(at + 1)];
      expect(isWellFormedToken(before + after)).toBe(false);
      expect(isWellFormedToken(before + here + here + after)).toBe(false);
      const swapped = before + after.charAt(0) + here + after.slice(1);
      if (swapped !== token) expect(isWellFormedToken(swapped)).toBe(false);
    }
  });

  test("refuses a token with anything around it, and any other text", () => {
    const token = newToken();
    for (const text of [` ${token}`, `${token} `, `${token}\n`, `"${token}"`, token.toUpperCase(), "", "perch_"]) {
      expect(isWellFormedToken(text), JSON.stringify(text)).toBe(false);
    }
  });
});
