import { expect, test } from "vitest";
import { parseSearch, stringifySearch, textSearch } from "./text-search.ts";

const texts = ["1.10", "12345678901234567890", "1e3", "007", "true", "null", "{}", '"said"', '"', "a b+c&d=ä", "[1]"];

test("a text in an address stays a text, even if it looks like a number", () => {
  for (const text of texts.filter((each) => each !== '"said"'))
    expect(parseSearch(`?user=${encodeURIComponent(text)}`), text).toEqual({ user: text });
  expect(textSearch("version")(parseSearch("?version=1.10"))).toEqual({ version: "1.10" });
});

test("reads the addresses that it writes", () => {
  for (const user of texts) expect(parseSearch(stringifySearch({ user })), user).toEqual({ user });
  expect(stringifySearch({ tail: 1, user: undefined })).toBe("?tail=1");
  expect(stringifySearch({ user: undefined })).toBe("");
});

test("reads addresses in which a text is quoted", () => {
  expect(parseSearch(`?user=${encodeURIComponent('"4217"')}`)).toEqual({ user: "4217" });
});
