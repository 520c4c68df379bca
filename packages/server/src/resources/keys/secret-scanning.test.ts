import { readFileSync } from "node:fs";
import { join } from "node:path";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { isWellFormedToken, newToken } from "../../auth/key-token.ts";

const folder = join(import.meta.dirname, "../../../../../docs/security");
const ruleFile = readFileSync(join(folder, "gitleaks.toml"), "utf8");
const page = readFileSync(join(folder, "secret-scanning.md"), "utf8");

type Value = string | number | boolean | readonly string[];
type Table = Record<string, Value>;

function tomlValue(text: string): Value {
  const literal = /^'''(.*)'''$/.exec(text);
  if (literal) return literal[1] ?? "";
  // A basic string without escapes, a list of them, a number or a boolean: the same as in JSON.
  if (!/^("[^"\\]*"|\["[^"\\]*"(, "[^"\\]*")*\]|\d+(\.\d+)?|true|false)$/.test(text))
    throw new Error(`not TOML: ${text}`);
  return JSON.parse(text) as Value;
}

/** As much of TOML as the rule file needs; anything else in it is an error, as it would be for gitleaks. */
function parseToml(text: string): Record<string, Table[]> {
  const tables: Record<string, Table[]> = { "": [{}] };
  let current = "";
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const header = /^(?:\[\[(\w+)\]\]|\[(\w+)\])$/.exec(line);
    if (header) {
      current = header[1] ?? header[2] ?? "";
      if (header[2] && tables[current]) throw new Error(`[${current}] twice`);
      tables[current] = [...(tables[current] ?? []), {}];
      continue;
    }
    const [, name = "", value = ""] = /^(\w+) = (.+)$/.exec(line) ?? [];
    const table = tables[current]?.at(-1);
    if (!table || name === "" || name in table) throw new Error(`not TOML: ${line}`);
    table[name] = tomlValue(value);
  }
  return tables;
}

const { extend, rules } = parseToml(ruleFile);
const rule = rules?.[0] ?? {};
const regex = new RegExp(String(rule.regex), "g");
const group = Number(rule.secretGroup);

/** The findings of gitleaks, which searches only near a keyword, and drops texts that are too regular to be random. */
function secretsIn(text: string): string[] {
  const keywords = rule.keywords as readonly string[];
  if (!keywords.some((keyword) => text.toLowerCase().includes(keyword))) return [];
  return [...text.matchAll(regex)]
    .map((match) => match[group] ?? "")
    .filter((found) => entropyOf(found) > Number(rule.entropy));
}

/** Bits for each character, by Shannon. */
const entropyOf = (text: string): number =>
  [...Map.groupBy(text, (character) => character).values()]
    .map(({ length }) => length / text.length)
    .reduce((sum, share) => sum - share * Math.log2(share), 0);

const surroundings: Record<string, (key: string) => string> = {
  "alone, at the end of a file": (key) => key,
  "at the end of a line": (key) => `the key is ${key}\nand more`,
  "at the end of a Windows line": (key) => `Authorization: Bearer ${key}\r\n`,
  "in an env file": (key) => `PERCH_API_KEY=${key}\nPERCH_URL=http://127.0.0.1:7400\n`,
  "in an exported variable": (key) => `export PERCH_API_KEY="${key}" # mine`,
  "in single quotes": (key) => `const key = '${key}';`,
  "in backticks": (key) => `run it with \`${key}\`.`,
  "in JSON": (key) => JSON.stringify({ name: "ci", key, next: 1 }),
  "in JSON, between escaped line ends": (key) => JSON.stringify(`A=1\n${key}\nB=2`),
  "in YAML": (key) => `env:\n  PERCH_API_KEY: ${key}\n`,
  "in the query of a URL": (key) => `https://api.example/v1/me?api_key=${key}&limit=1`,
  "as the user of a URL": (key) => `https://${key}@api.example/v1/me`,
  "percent-encoded": (key) => `redirect=https%3A%2F%2Fapi.example%3Fkey%3D${key}%26x`,
  "in a curl command": (key) => `curl -H "Authorization: Bearer ${key}" https://api.example/v1/me`,
  "in a table, emphasised": (key) => `| key | _${key}_ |`,
  "before a full stop": (key) => `Use ${key}.`,
};

const known = newToken();
const commit = "9f1c2b3a4d5e6f708192a3b4c5d6e7f8091a2b3c";
const nearMisses: Record<string, string> = {
  "one character short": known.slice(0, -1),
  "one character long": `${known}0`,
  "a key's first characters": known.slice(0, 14),
  "another prefix": known.replace("perch_", "porch_"),
  "the prefix in capitals": known.replace("perch_", "PERCH_"),
  "a hyphen in the prefix": known.replace("perch_", "perch-"),
  "no prefix": known.slice("perch_".length),
  "a hyphen inside": `${known.slice(0, 30)}-${known.slice(31)}`,
  "broken over two lines": `${known.slice(0, 30)}\n${known.slice(30)}`,
  "a commit hash": commit,
  "a commit hash behind the prefix": `perch_${commit}`,
  "a public id": "key_01h455vb4pex5vsknk084sn02q",
  "an example of one letter": `perch_${"x".repeat(46)}`,
};

describe("the gitleaks rule", () => {
  test("is a whole configuration: it adds one rule to those of gitleaks", () => {
    expect(extend).toEqual([{ useDefault: true }]);
    expect(rules).toHaveLength(1);
    expect(rule).toMatchObject({ id: "perch-api-key", secretGroup: 1, keywords: ["perch_"] });
    expect(rule.description).toContain("/v1/keys/revoke-leaked");
    expect(() => parseToml("[extend]\nuseDefault = yes")).toThrow("not TOML");
    // Go's regular expressions have neither lookarounds nor backreferences.
    expect(rule.regex).not.toMatch(/\(\?[=!<]|\\\d/);
  });

  test("finds each of 200 keys, wherever it is, and nothing around it", () => {
    verifies("keys.format");
    const names = Object.keys(surroundings);
    const found = Array.from({ length: 200 }, (_, i) => {
      const [key, name = ""] = [newToken(), names[i % names.length]];
      return { name, key, found: secretsIn(surroundings[name]?.(key) ?? "") };
    });
    expect(found.filter(({ key, found }) => found.length !== 1 || found[0] !== key)).toEqual([]);
    expect(new Set(found.map(({ name }) => name)).size).toBe(names.length);
  });

  test("finds several keys in one text", () => {
    const keys = [newToken(), newToken(), newToken()];
    for (const separator of [",", "\n", " ", "%2C"]) expect(secretsIn(keys.join(separator))).toEqual(keys);
  });

  test.each(Object.entries(nearMisses))("does not report %s", (_, text) => {
    expect(secretsIn(text)).toEqual([]);
    expect(secretsIn(`KEY="${text}"\n`)).toEqual([]);
  });
});

describe("the page about secret scanning", () => {
  test("shows the pattern of the rule", () => {
    expect(page).toContain("perch_[0-9A-Za-z]{46}");
    expect(rule.regex).toContain("perch_[0-9A-Za-z]{46}");
  });

  test("shows keys to test a scanner with: the good ones have the right checksum, the bad one has not", () => {
    const examples = [...page.matchAll(/`(perch_[0-9A-Za-z]{46})` \| (right|wrong)/g)];
    expect(examples.map(([, , verdict]) => verdict)).toEqual(["right", "right", "wrong"]);
    for (const [, key = "", verdict] of examples) expect(isWellFormedToken(key), key).toBe(verdict === "right");
  });
});
