import { agentDefaults } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { applyPatch } from "diff";
import { describe, expect, test } from "vitest";
import { assertComparable, createDiff as createStoredDiff } from "./version-diff.ts";
import type { Definition } from "./version-rules.ts";

const { security: _, ...defaults } = agentDefaults;
const definition = (change: Partial<Definition> = {}): Definition => ({
  ...defaults,
  runtime: { type: "model" },
  model: "perch/echo",
  ...change,
});
const createDiff = (from: Definition, to: Definition) =>
  createStoredDiff({ label: "v1", json: JSON.stringify(from) }, { label: "v2", json: JSON.stringify(to) });
const numbered = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (__, i) => line(i)).join("\n");
const changedLines = (text: string) => text.split("\n").filter((line) => /^[-+](?![-+])/.test(line));

test("the same items in another order are not the same definition", () => {
  const tools = ["a", "b"].map((name) => ({ type: "mcp" as const, name, url: "https://x.example" }));
  expect(createDiff(definition({ tools }), definition({ tools: tools.toReversed() })).same).toBe(false);
});

describe("the text", () => {
  const long = (changed: string) => numbered(200, (i) => (i === 100 ? changed : `Rule ${i}.`));

  test("shows a changed sentence of long instructions as one line", () => {
    verifies("version.diff");
    const diff = createDiff(
      definition({ instructions: long("Be kind.") }),
      definition({ instructions: long("Be short.") }),
    );
    const lines = diff.text.split("\n");
    expect(changedLines(diff.text)).toEqual(['-    "Be kind.",', '+    "Be short.",']);
    expect(lines.filter((line) => /^(---|\+\+\+) /.test(line)).map((line) => line.split("\t")[0])).toEqual([
      "--- v1",
      "+++ v2",
    ]);
    expect(lines.length).toBeLessThan(20);
  });

  test("is empty when nothing differs", () => {
    expect(createDiff(definition(), definition())).toEqual({ from: "v1", to: "v2", same: true, changes: [], text: "" });
  });

  test("shows what differs in more than 250 lines as one change, which applies to the first version", () => {
    const [before, after] = ["old", "new"].map((word) => numbered(900, (i) => (i % 5 ? `Rule ${i}.` : `${word} ${i}`)));
    const { text } = createDiff(definition({ instructions: before ?? "" }), definition({ instructions: after ?? "" }));
    expect(text.match(/^@@/gm)).toHaveLength(1);
    expect(changedLines(text).length).toBeGreaterThan(1500);
    // Applied to the diff's first version, the patch gives the second: each changed line is there, in order.
    const sides = (sign: string) => changedLines(text).filter((line) => line.startsWith(sign)).length;
    expect(sides("-")).toBe(sides("+"));
    const body = text.split("\n").slice(3, -1);
    const side = (sign: string) =>
      body.filter((line) => line[0] === " " || line[0] === sign).map((line) => line.slice(1));
    const start = Number(/^@@ -(\d+)/m.exec(text)?.[1]);
    const padding = "x\n".repeat(start - 1);
    expect(applyPatch(`${padding}${side("-").join("\n")}\n`, text)).toBe(`${padding}${side("+").join("\n")}\n`);
  });

  test("of two long texts with nothing in common is a note, and the changes are complete", () => {
    const lines = (letter: string) => numbered(13_000, (i) => `${letter}${i.toString(36)}`);
    const [from, to] = [definition({ instructions: lines("a") }), definition({ instructions: lines("b") })];
    const { text, changes } = createDiff(from, to);
    expect(text).toBe("The two differ too much to show line by line; see `changes`.");
    expect(changes).toEqual([{ path: "instructions", from: from.instructions, to: to.instructions }]);
  });
});

describe("hostile definitions", () => {
  const randomLines = (seed: number, count: number) => {
    let state = seed;
    return numbered(count, () => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return String((state >> 16) % 2);
    });
  };
  const nested = (depth: number, value: number): unknown =>
    depth === 0 ? Array.from({ length: 3000 }, (__, i) => (i * value) % 10) : [nested(depth - 1, value)];
  const withParameters = (parameters: unknown) =>
    definition({
      tools: [
        { type: "http", name: "t", description: "", method: "POST", url: "https://x.example", parameters } as never,
      ],
    });
  const objects = (value: string) =>
    Object.fromEntries(Array.from({ length: 2800 }, (__, i) => [`p${i}`, { type: "string", d: value }]));

  test.each([
    ["lines in random order", ...[1, 2].map((seed) => definition({ instructions: randomLines(seed, 4900) }))],
    ["more lines than are compared", ...[1, 2].map((seed) => definition({ instructions: randomLines(seed, 32_000) }))],
    ["blank lines", ...[4900, 4000].map((count) => definition({ instructions: "\n".repeat(count) }))],
    ["deep lists", ...[3, 7].map((value) => withParameters({ list: nested(50, value) }))],
    ["many small objects", ...["a", "b"].map((value) => withParameters(objects(value)))],
  ])("with %s take the CPU for less than 150 ms", (__, from, to) => {
    createDiff(definition(), definition({ model: "perch/script" }));
    const spentMs = Array.from({ length: 3 }, () => {
      const before = process.cpuUsage();
      createDiff(from as Definition, to as Definition);
      return process.cpuUsage(before).user / 1000;
    });
    expect(Math.min(...spentMs)).toBeLessThan(150);
  });

  test("of more than 262,144 characters together are refused, and the message gives advice", () => {
    const half = definition({
      instructions: "x".repeat(60_000),
      tools: withParameters({ a: "x".repeat(80_000) }).tools,
    });
    const stored = (label: string, model: string) => ({ label, json: JSON.stringify({ ...half, model }) });
    expect(() => assertComparable(stored("v1", "perch/echo"), stored("v2", "perch/script"))).toThrow(
      /^v1 and v2 have \d+ characters together, and at most 262144 are compared here. Get both, and compare them on your side.$/,
    );
  });
});
