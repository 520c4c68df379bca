import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createValueSearch } from "./value-search.ts";

const secret = "tok-5e9C/r3t+V4lu3";
const redactorOf = (value: string) => createValueSearch([["[secret key]", value]]);
const { text, beginning, stream } = redactorOf(secret);

const printable = (from = 0x20) => fc.integer({ min: from, max: 0x7e }).map((code) => String.fromCharCode(code));
const anyValue = fc
  .string({ unit: printable(), minLength: 8, maxLength: 60 })
  .filter((value) => value.trim() === value && value.length >= 8);
const valueWithoutEscapes = fc
  .string({ unit: printable(0x21).filter((one) => !"%\\".includes(one)), minLength: 8, maxLength: 60 })
  .filter((value) => value.length >= 8);

const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, "0");
/** Every way in which one character may be written. */
const spellings: readonly ((character: string) => string)[] = [
  (character) => character,
  (character) => `%${hex(character)}`,
  (character) => `%${hex(character).toUpperCase()}`,
  (character) => `\\u00${hex(character)}`,
  (character) => `\\u00${hex(character).toUpperCase()}`,
  (character) => ('"/'.includes(character) ? `\\${character}` : character),
];

/** Cuts a text at these places. */
const cut = (whole: string, places: readonly number[]): string[] => {
  const at = [0, ...places.map((place) => place % (whole.length + 1)).toSorted((a, b) => a - b), whole.length];
  return at.slice(1).map((end, i) => whole.slice(at[i], end));
};
const writeAll = (value: string, pieces: readonly string[]): string => {
  const { write, end } = redactorOf(value).stream();
  return pieces.map(write).join("") + end();
};

describe("what is replaced", () => {
  const base64 = (before: string, after = "") => Buffer.from(before + secret + after).toString("base64");
  test.each([
    ["the value itself", `Bearer ${secret}!`, "Bearer [secret key]!"],
    ["the value several times", `${secret} ${secret}${secret}`, "[secret key] [secret key][secret key]"],
    ["URL-encoded", `?k=${encodeURIComponent(secret)}&`, "?k=[secret key]&"],
    ["escaped as JSON with slashes", `"tok-5e9C\\/r3t+V4lu3"`, '"[secret key]"'],
    ["encoded twice", `?k=${encodeURIComponent(encodeURIComponent(secret))}&`, "?k=[secret key]&"],
    ["with NUL between its characters", `x${[...secret].join("\0")}x`, "x[secret key]x"],
    ["with escaped NUL between its characters", [...secret].join("\\u0000"), "[secret key]"],
    ["a mixture", "tok%2D5e9C\\u002fr3t%2bV4lu3", "[secret key]"],
  ])("%s", (_, given, expected) => {
    expect(text(given)).toBe(expected);
  });

  test.each(["", "a", "ab", "Authorization: Bearer ", '{"authorization":"Bearer '])("base64 after %j", (before) => {
    for (const after of ["", "}", '"}', '"}}'])
      for (const encoded of [base64(before, after), Buffer.from(before + secret + after).toString("base64url")]) {
        const found = text(`x ${encoded} y`);
        expect(found).toContain("[secret key]");
        expect(found.length - "x [secret key] y".length).toBeLessThan(encoded.length - (secret.length * 4) / 3 + 3);
      }
  });

  test("base64 in lines of 76 characters, even if the line breaks are escaped", () => {
    const lines = base64("x".repeat(50)).replaceAll(/.{76}/g, (line) => `${line}\n`);
    expect(lines).toContain("\n");
    expect(text(lines)).toContain("[secret key]");
    expect(text(JSON.stringify(lines))).toContain("[secret key]");
  });

  test("base64 of the value as it stands in JSON", () => {
    const value = 'pass"word\\1';
    const encoded = Buffer.from(JSON.stringify({ authorization: value })).toString("base64");
    expect(redactorOf(value).text(encoded)).toContain("[secret key]");
  });

  test("each secret under its own name, and the longer one if one begins with the other", () => {
    const two = createValueSearch([
      ["[secret short]", "abcdefgh"],
      ["[secret long]", "abcdefghij"],
    ]);
    expect(two.text("abcdefgh abcdefghij abcdefghi")).toBe("[secret short] [secret long] [secret short]i");
  });

  test("a value that was cut off with the end of a text is left out of its beginning", () => {
    expect(beginning(`see ${secret} and ${secret.slice(0, 9)}`)).toBe("see [secret key] and ");
    expect(beginning("see to")).toBe("see ");
  });

  test("nothing else", () => {
    const other = "tok-5e9C is not all of it; neither is r3t+V4lu3. 100% \\ %7 \\u00";
    expect(text(other)).toBe(other);
  });
});

describe("hostile answers", () => {
  const cpuMs = (work: () => void): number => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };

  test("that consist of overlapping values take time in proportion to their length", () => {
    const search = createValueSearch([
      ["[secret short]", "a".repeat(8)],
      ["[secret long]", `${"a".repeat(9)}b`],
    ]);
    const chunk = "a".repeat(16_384);
    const { write, end } = search.stream();
    let answer = "";
    const spentMs = cpuMs(() => {
      for (let i = 0; i < 64; i++) answer += write(chunk);
      answer += end();
    });
    expect(answer).toBe("[secret short]");
    expect(spentMs).toBeLessThan(5000);
  });

  test.each(["ab%41%42", "ab\\u0041\\u0042"])(
    "of escapes like %s, none of which begins a value, cost no more than others",
    (escapes) => {
      const search = createValueSearch([["[secret key]", "ghp_Q7kx9ZpLm3vTn2RwYc8"]]);
      const least = (unit: string): number => {
        const whole = unit.repeat(524_288 / unit.length);
        return Math.min(...Array.from({ length: 5 }, () => cpuMs(() => search.text(whole))));
      };
      // 1 to 2 times; with all readings of each escape 8 times.
      expect(least(escapes) / least("of words")).toBeLessThan(5);
    },
  );
});

describe("properties", () => {
  test("the value is replaced, whichever way each of its characters is written", () => {
    const spelled = valueWithoutEscapes.chain((value) =>
      fc.tuple(
        fc.constant(value),
        fc.array(fc.nat(spellings.length - 1), { minLength: value.length, maxLength: value.length }),
      ),
    );
    fc.assert(
      fc.property(spelled, ([value, ways]) => {
        const written = [...value].map((character, i) => spellings[ways[i] ?? 0]?.(character) ?? "").join("");
        expect(redactorOf(value).text(`\n${written}\n`)).toBe("\n[secret key]\n");
      }),
      { numRuns: 300 },
    );
  });

  test("any value is replaced in the output of encoders, one by one and combined", () => {
    const encoders: readonly ((given: string) => string)[] = [
      (given) => given,
      (given) => JSON.stringify(given),
      encodeURIComponent,
      (given) => new URLSearchParams({ given }).toString(),
      (given) => JSON.stringify(JSON.stringify(given)),
      (given) => encodeURIComponent(JSON.stringify(given)),
      (given) => JSON.stringify(encodeURIComponent(given)),
      (given) => encodeURIComponent(new URLSearchParams({ given }).toString()),
      (given) => Buffer.from(given, "utf16le").toString(),
      (given) => Buffer.from(new URLSearchParams({ given }).toString()).toString("base64"),
      (given) => Buffer.from(given).toString("base64"),
      (given) => Buffer.from(JSON.stringify({ given })).toString("base64url"),
      (given) => encodeURIComponent(Buffer.from(JSON.stringify({ given })).toString("base64")),
    ];
    fc.assert(
      fc.property(anyValue, fc.nat(encoders.length - 1), (value, way) => {
        const encoded = encoders[way]?.(value) ?? "";
        expect(redactorOf(value).text(`\n${encoded}\n`)).toContain("[secret key]");
      }),
      { numRuns: 500 },
    );
  });

  test("a text in pieces becomes what it becomes as a whole, however it is cut", () => {
    // Few different characters, so that values, and beginnings of them, are frequent.
    const near = fc.constantFrom(...'ab%612\\u0"/n+ \n\0', "YWJhYm");
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'ab%\\n"6'), minLength: 8, maxLength: 12 }),
        fc.array(fc.oneof({ weight: 9, arbitrary: near }, { weight: 1, arbitrary: fc.constant("VALUE") }), {
          maxLength: 60,
        }),
        fc.array(fc.nat(), { maxLength: 20 }),
        (value, parts, places) => {
          const whole = parts.map((part) => (part === "VALUE" ? value : part)).join("");
          expect(writeAll(value, cut(whole, places))).toBe(redactorOf(value).text(whole));
        },
      ),
      {
        numRuns: 500,
        // An escape before a value that begins with its letter, and ends with a possible half of an escape.
        examples: [["baaaaa\\a\\", ["\\", "VALUE", "\\"], [1_209_550_933]]],
      },
    );
  });

  test("the value is in no text afterwards", () => {
    fc.assert(
      fc.property(anyValue, fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }), (value, before, after) => {
        expect(redactorOf(value).text(before + value + after)).not.toContain(value);
      }),
      { numRuns: 500 },
    );
  });
});

describe("streams", () => {
  test("text passes at once, except an end that may become a value", () => {
    const { write, end } = stream();
    expect(["no", "thing ", "to", "k", "ay ", "x %", " tok-5", "e9C/r3t+V4lu", "3.", "%"].map(write)).toEqual([
      "no",
      "thing ",
      "",
      "",
      "tokay ",
      "x ",
      "% ",
      "",
      "[secret key].",
      "",
    ]);
    expect(end()).toBe("%");
  });

  test("a value is shown as replaced as soon as it is complete", () => {
    const { write } = redactorOf("abcabcabc").stream();
    expect(write("abcabcabc")).toBe("[secret key]");
  });

  test("nearly matching texts cost no more than others", { timeout: 60_000 }, () => {
    const hostile = createValueSearch([["[secret key]", `${"a".repeat(4000)}b`]]);
    const before = process.cpuUsage();
    hostile.text("a".repeat(2 * 1024 * 1024));
    hostile.text("%61".repeat(256 * 1024));
    // About half a second. Compared at every place, it would be 9,000 million characters.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(6);
  });
});
