import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { completionsOf } from "../src/commands/completion.ts";
import { commands } from "../src/commands.ts";
import { createShell } from "./shell.ts";

const perch = createShell({ cwd: tmpdir() });

describe("perch --help", () => {
  test("lists every command", async () => {
    const { code, stdout } = await perch(["--help"]);
    expect(code).toBe(0);
    expect(commands.length).toBeGreaterThan(40);
    expect(commands.filter(({ name }) => !stdout.includes(`  ${name}`))).toEqual([]);
    expect(stdout).toMatchSnapshot();
  });

  test("nothing at all is a question for help", async () => {
    expect((await perch([])).stdout).toBe((await perch(["--help"])).stdout);
  });

  test("a group lists its own", async () => {
    const { code, stdout } = await perch(["keys"]);
    expect(code).toBe(0);
    expect(stdout).toMatchSnapshot();
  });

  test.each(commands.map(({ name }) => name))("perch %s --help", async (name) => {
    const { code, stdout, stderr } = await perch([...name.split(" "), "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const option of ["--json", "--profile", "--url", "--key"]) expect(stdout).toContain(option);
    expect(stdout).toMatchSnapshot();
  });
});

describe("wrong usage ends with 2 and says why", () => {
  test.each([
    [["nonsense"], 'There is no command "perch nonsense".'],
    [["keys", "steal"], 'There is no command "perch keys steal".'],
    [["logs"], "<agent> is missing"],
    [["logs", "bot", "too", "many"], '"too" is one word too many'],
    [["logs", "bot", "--level", "loud"], "--level is one of debug, info, warn, error"],
    [["logs", "bot", "--nonsense"], "Unknown option '--nonsense'"],
    [["logs", "bot", "--since", "yesterday"], "--since is a time such as"],
    [["metrics", "bot", "beauty"], "a metric is one of"],
    [["completion", "tcsh"], "shell must be one of"],
    [["api", "PUT", "/v1/agents"], "GET, POST, PATCH or DELETE"],
  ])("perch %j", async (args, reason) => {
    const { code, stdout, stderr } = await perch(args, {
      env: { PERCH_URL: "http://127.0.0.1:9", PERCH_API_KEY: "k" },
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(reason);
  });

  test("--json makes the error JSON too", async () => {
    const { code, stderr } = await perch(["logs", "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toEqual({ error: { message: "perch logs: <agent> is missing." } });
  });
});

describe("perch completion", () => {
  test("knows every command and option", () => {
    const words = completionsOf(commands);
    expect(words.get("")).toEqual(expect.arrayContaining(["agents", "deploy", "keys", "webhooks"]));
    expect(words.get("keys")).toEqual(["begin-mfa", "create", "list", "revoke", "rotate"]);
    expect(words.get("keys rotate")).toEqual(expect.arrayContaining(["--overlap", "--json"]));
    expect(words.get("agents")).toEqual(expect.arrayContaining(["get", "delete", "--limit"]));
  });

  test.each(["bash", "zsh", "fish"])("prints a script for %s", async (shell) => {
    const { code, stdout } = await perch(["completion", shell]);
    expect(code).toBe(0);
    expect(stdout).toContain("rotate");
  });
});
