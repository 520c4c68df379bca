import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { createTerminal } from "../src/terminal.ts";

/** Streams that claim to be a terminal. */
function person(env: NodeJS.ProcessEnv = {}) {
  const streams = {
    stdin: Object.assign(new PassThrough(), { isTTY: true }),
    stdout: Object.assign(new PassThrough(), { isTTY: true, columns: 0 }),
    stderr: Object.assign(new PassThrough(), { isTTY: true }),
  };
  return { ...streams, terminal: createTerminal(streams, env) };
}

describe("a user at a terminal", () => {
  test.each([
    ["y\n", true],
    ["yes\n", true],
    ["n\n", false],
    ["\n", false],
    ["\u0003", false],
    ["\u0004", false],
  ])("is asked before something is destroyed: %j is %s", async (typed, answer) => {
    const { terminal, stdin, stderr } = person();
    const asked = terminal.confirm("Remove it?", false);
    stdin.write(typed);
    expect(await asked).toBe(answer);
    expect(String(stderr.read())).toContain("Remove it? [y/N]");
  });

  test("does not see the key that is typed", async () => {
    const { terminal, stdin, stdout, stderr } = person();
    const asked = terminal.secret("API key: ");
    stdin.write("perch_s3cret\n");
    expect(await asked).toBe("perch_s3cret");
    expect(`${stdout.read()}${stderr.read()}`).not.toContain("s3cret");
  });

  test("is not waited for any more once the questions end, so that the process can end", async () => {
    const { terminal, stdin } = person();
    stdin.write("/exit\n");
    for await (const line of terminal.questions("> ")) {
      expect(line).toBe("/exit");
      break;
    }
    expect(stdin.isPaused()).toBe(true);
  });

  test("does not answer a question with text that was typed before it was asked", async () => {
    const { terminal, stdin } = person();
    const questions = terminal.questions("> ");
    stdin.write("hello\ny\n");
    for await (const line of questions) {
      expect(line).toBe("hello");
      const answer = questions.ask("approve? ");
      setTimeout(() => stdin.write("n\n"), 50);
      expect(await answer).toBe("n");
      break;
    }
  });

  test("sees colours, unless NO_COLOR is set or the terminal is dumb", () => {
    expect(person().terminal.style("red", "x")).not.toBe("x");
    for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }, { NO_COLOR: "1", FORCE_COLOR: "1" }])
      expect(person(env).terminal.style("red", "x")).toBe("x");
  });

  test("has 80 columns if the terminal does not report its width", () => {
    expect(person().terminal.columns).toBe(80);
  });
});
