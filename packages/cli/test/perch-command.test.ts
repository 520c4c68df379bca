import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { sourceFiles } from "@perch/testkit/source-files.ts";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { perchCommand, programName } from "../src/perch-command.ts";
import { createShell } from "./shell.ts";

const root = mkdtempSync(join(tmpdir(), "perch-program-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
afterEach(() => void vi.unstubAllEnvs());

function folderWithPerch(name: string, mode = 0o755): string {
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "perch"), "");
  chmodSync(join(folder, "perch"), mode);
  return folder;
}

describe("a hint names the command as the user can type it", () => {
  const installed = folderWithPerch("bin");
  const ofNpm = folderWithPerch("project/node_modules/.bin");

  test.each<[string, NodeJS.ProcessEnv, string]>([
    ["perch is on the PATH", { PATH: ["/nowhere", installed].join(delimiter) }, "perch"],
    ["it is not", { PATH: "/nowhere" }, "npx perch"],
    ["there is no PATH", {}, "npx perch"],
    ["npx started it, even if another is installed", { PATH: installed, npm_command: "exec" }, "npx perch"],
    ["npm has put it on the PATH for a script", { PATH: ofNpm, npm_command: "run-script" }, "npx perch"],
    ["a file of that name cannot be executed", { PATH: folderWithPerch("data", 0o644) }, "npx perch"],
  ])("%s", (_, env, name) => {
    expect(programName(env)).toBe(name);
  });

  test("in errors, hints and help", async () => {
    vi.stubEnv("npm_command", "exec");
    const perch = createShell({ cwd: root, env: { XDG_CONFIG_HOME: root } });
    expect((await perch(["agents"])).stderr).toContain(
      "Start one with `npx perch dev`, or save one with `npx perch login`",
    );
    expect((await perch(["init", "bot"])).stdout).toContain('\n  npx perch invoke bot "Hello"\n');
    expect((await perch(["nonsense"])).stderr).toContain("`npx perch --help` shows all commands");
    expect((await perch(["help", "login"])).stdout).toContain("Usage: npx perch login [name] [options]");
    expect((await perch(["help", "login"])).stdout).toContain("\n  npx perch login staging --url");
    vi.stubEnv("npm_command", "");
    expect(perchCommand("dev")).toBe("perch dev");
  });
});

/**
 * Texts that begin with `perch` and are not commands to type: `perch dev did not write that`, `perch logs: <agent> is
 * missing`.
 */
const hint = /(?:[Rr]un|[Ss]tart|with|again:|shows?:?|looks) perch [a-z]+(?: [a-z]+)?(?![a-z:])/;

test("no text of the command line names a command in another way", () => {
  const files = sourceFiles(["packages/cli/src"]);
  expect(files.length).toBeGreaterThan(50);
  const wrong = files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .filter((line) => hint.test(line) && !/^\s*(\/\/|\/?\*)/.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(wrong).toEqual([]);
});
