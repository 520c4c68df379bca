import { describe, expect, test } from "vitest";
import { compareReply } from "./compare-replies.ts";
import { readPage } from "./markdown-blocks.ts";

const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\`\n`;
const page = (...parts: readonly string[]) => readPage(parts.join("\n"));
const matches = (language: string, printed: string, output: string): boolean =>
  compareReply({ line: 1, language, text: printed, exitStatus: 0 }, output).every(
    ({ expected, actual }) => JSON.stringify(expected) === JSON.stringify(actual),
  );

describe("blocks of a page", () => {
  test("commands and programs are executed, and a block right below one is its output", () => {
    const { steps, mistakes } = page(fence("sh", "echo a"), fence("text", "a"), "Prose.", "", fence("ts", "1;"));
    expect(steps.map(({ language, reply }) => [language, reply?.text])).toEqual([
      ["sh", "a\n"],
      ["ts", undefined],
    ]);
    expect(mistakes).toEqual([]);
  });

  test.each([
    ["a block without a language", fence("", "a")],
    ["a reply after prose", `${fence("sh", "echo a")}Prose.\n\n${fence("text", "a")}`],
    ["a second reply", `${fence("sh", "echo a")}\n${fence("text", "a")}\n${fence("text", "b")}`],
    [
      "a reply of a block that is not executed",
      `<!-- not executed: why -->\n${fence("sh", "a")}\n${fence("text", "b")}`,
    ],
    ["a mark without a reason", `<!-- not executed: -->\n${fence("sh", "a")}`],
  ])("%s is a mistake", (_, markdown) => {
    expect(page(markdown).mistakes).toHaveLength(1);
  });

  test("a block with a reason is skipped, and one in a list is found", () => {
    const { steps, notExecuted, mistakes } = page(
      `<!-- not executed: it never ends -->\n${fence("sh", "sleep infinity")}`,
      "- An item:\n\n  ```sh\n  echo a\n  ```",
    );
    expect(notExecuted.map(({ reason }) => reason)).toEqual(["it never ends"]);
    expect(steps.map(({ text }) => text)).toEqual(["echo a\n"]);
    expect(mistakes).toEqual([]);
  });

  test("a body names its operation, and commands may end with another status than 0", () => {
    const { bodies, steps } = page(
      `<!-- body of: POST /v1/agents -->\n${fence("json", "{}")}`,
      `<!-- exit status: 2 -->\n${fence("sh", "exit 2")}`,
    );
    expect(bodies.map(({ operation }) => operation)).toEqual(["POST /v1/agents"]);
    expect(steps.map(({ exitStatus }) => exitStatus)).toEqual([2]);
  });
});

describe("replies", () => {
  const [one, two] = ["req_01m7enajvxfevsvfyzhjw6m101", "req_01m7faj7p2fvhs2jddsf1sfw2z"];

  test("ids, times and durations may differ, anything else may not", () => {
    const answer = (id: string, at: string, ms: number, tokens = 8) =>
      JSON.stringify({ request_id: id, created_at: at, duration_ms: ms, tokens_used: tokens });
    const printed = answer(one, "2026-01-31T12:00:00.000Z", 1);
    expect(matches("json", printed, answer(two, "2027-01-31T12:00:00.000Z", 2))).toBe(true);
    expect(matches("json", printed, answer(two, "2027-01-31T12:00:00.000Z", 2, 9))).toBe(false);
    expect(matches("json", printed, answer("agent_01m7faj7p2fvhs2jddsf1sfw2z", "2027-01-31T12:00:00.000Z", 2))).toBe(
      false,
    );
    expect(matches("json", printed, "Something else")).toBe(false);
    expect(matches("json", '{"a": 1}', '{"a": 1, "b": 2}')).toBe(false);
  });

  test("a time with a zone is not one without", () => {
    const printed = "2026-01-31 13:00:00 CET started";
    expect(matches("text", printed, "2027-01-31 12:00:00 UTC started")).toBe(true);
    expect(matches("text", printed.replace(" CET", ""), "2027-01-31 12:00:00 UTC started")).toBe(false);
    expect(matches("text", printed, "2027-01-31 12:00:00 started")).toBe(false);
  });

  test("… stands for text within a line, and for any lines on its own", () => {
    expect(matches("text", "a … z", "a b c z")).toBe(true);
    expect(matches("text", "a … z", "a b\nz")).toBe(false);
    expect(matches("text", "a\n…\nz", "a\nb\nc\nz")).toBe(true);
    expect(matches("text", "a\n…\nz", "a\nb\nc")).toBe(false);
    expect(matches("json", '{"key": "perch_…"}', '{"key": "perch_00abc"}')).toBe(true);
    expect(matches("json", '{"key": "perch_…"}', '{"key": "other"}')).toBe(false);
  });

  test("an HTTP answer is compared by its printed headers, and by its body if it is printed", () => {
    const output = 'HTTP/1.1 200 OK\r\nDate: now\r\nRetry-After: 1\r\n\r\n{"a":1}';
    expect(matches("http", "HTTP/1.1 200 OK\nretry-after: 1", output)).toBe(true);
    expect(matches("http", 'HTTP/1.1 200 OK\nretry-after: 1\n\n{ "a": 1 }', output)).toBe(true);
    for (const wrong of [
      "HTTP/1.1 201 Created",
      "HTTP/1.1 200 OK\nretry-after: 2",
      "HTTP/1.1 200 OK\nlocation: /",
      'HTTP/1.1 200 OK\n\n{ "a": 2 }',
    ])
      expect(matches("http", wrong, output), wrong).toBe(false);
  });
});
