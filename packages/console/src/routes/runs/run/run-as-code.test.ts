import { expect, test } from "vitest";
import { toCurl, toPython, toTypeScript } from "./run-as-code.ts";
import { contextOf } from "./run-context.ts";

const run = {
  message: `It's "quoted", costs $5 \\ \`id\` !! and\nhas\u202E two lines 😀`,
  user_id: "ada's",
  session_id: "s-1",
  environment: "staging",
  version: "v2",
  deployment_id: null,
};
const context = { user_id: "ada's", session_id: "s-1", environment: "staging", version: "v2" };

/** Parses as a shell does: single quotes quote everything, and `'\\''` is a quote. */
function unquoted(text: string): string {
  const parts = text.split("'\\''").map((part, index, all) => {
    const [first, last] = [index === 0, index === all.length - 1];
    if ((first && !part.startsWith("'")) || (last && !part.endsWith("'"))) throw new Error("It is not quoted");
    return part.slice(first ? 1 : 0, last ? -1 : undefined);
  });
  if (parts.some((part) => part.includes("'"))) throw new Error("A quote ends the text before its end");
  return parts.join("'");
}

test("a shell reads from the curl command exactly the message that was sent, whatever is in it", () => {
  const command = toCurl("https://perch.example", "a/b", run);
  expect(command).toContain("'https://perch.example/v1/agents/a%2Fb/invoke'");
  expect(command).toContain('"Authorization: Bearer $PERCH_API_KEY"');
  const body = command.slice(command.indexOf("--data-raw ") + "--data-raw ".length);
  expect(JSON.parse(unquoted(body))).toEqual({ message: run.message, context });
});

test("no code has the key itself, or a character that cannot be seen", () => {
  for (const toCode of [toCurl, toTypeScript, toPython]) {
    const code = toCode("https://perch.example", "tea-bot", run);
    expect(code).toContain("PERCH_API_KEY");
    expect(code).not.toContain("\u202E");
  }
});

test("TypeScript and Python literals have the message that was sent", () => {
  const body = /invoke\("tea-bot", (\{[\s\S]*\})\);/.exec(toTypeScript("https://perch.example", "tea-bot", run))?.[1];
  expect(JSON.parse(body ?? "")).toEqual({ message: run.message, context });
  const python = toPython("https://perch.example", "tea-bot", run);
  expect(JSON.parse(/message=(".*"),\n/.exec(python)?.[1] ?? "")).toBe(run.message);
});

test("a version is asked for by name only if no deployment chose it, and the session can be left out", () => {
  expect(contextOf({ ...run, deployment_id: "dep_1" })).not.toHaveProperty("version");
  expect(contextOf(run, false)).not.toHaveProperty("session_id");
  expect(contextOf({ ...run, environment: "production", user_id: null }, false)).toEqual({ version: "v2" });
});
