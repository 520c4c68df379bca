import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { type Desk, newDesk, removeDesks } from "./using-perch.ts";

const server = usePerch();
removeDesks();

const main = join(import.meta.dirname, "../src/main.ts");
// Another run of these tests on the machine has another: its processes are looked at too.
const value = `s3cret-${randomBytes(8).toString("hex")}`;

const environmentOf = ({ env }: Desk): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PERCH_"))),
  ...env,
  NODE_NO_WARNINGS: "1",
});

/** Runs a command on a terminal, types a line as soon as the prompt is there, and prints everything that the terminal showed. */
const terminalProgram = `
import os, pty, signal, sys
signal.alarm(60)
prompt, line, *command = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
shown = b""
typed = False
while True:
    try:
        chunk = os.read(terminal, 4096)
    except OSError:
        break
    if not chunk:
        break
    shown += chunk
    if not typed and prompt.encode() in shown:
        typed = True
        os.write(terminal, (line + "\\n").encode())
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

async function onTerminal(desk: Desk, prompt: string, typed: string, command: readonly string[]) {
  const child = spawn("python3", ["-c", terminalProgram, prompt, typed, ...command], {
    cwd: desk.cwd,
    env: environmentOf(desk),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [shown, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return { code: code as number, shown };
}

/** The arguments of all processes that this user can see. */
const processArguments = (): string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, "utf8")];
      } catch {
        return [];
      }
    });

const perchCommand = (...args: string[]): string[] => [process.execPath, main, ...args];

describe("perch secrets set", () => {
  test("asks on a terminal, and does not show the typed text, even if the result goes into a pipe", async () => {
    verifies("secrets.command-line");
    const desk = await newDesk(server());
    const control = await onTerminal(desk, "go", value, ["sh", "-c", "echo go; read -r line"]);
    expect(control.shown).toContain(value);
    const set = perchCommand("secrets", "set", "github_token", "--host", "api.github.com");
    const first = await onTerminal(desk, "Value of github_token: ", value, set);
    expect(first).toMatchObject({ code: 0, shown: expect.stringContaining("github_token created") });
    const piped = ["bash", "-o", "pipefail", "-c", '"$@" | cat', "set", ...set, "--json"];
    const second = await onTerminal(desk, "Value of github_token: ", `${value}-2`, piped);
    expect(second).toMatchObject({ code: 0, shown: expect.stringContaining('"outcome": "updated"') });
    expect(first.shown + second.shown).not.toContain("s3cret");
  });

  test("takes nothing if the user presses ctrl-c or enter", async () => {
    const desk = await newDesk(server());
    const set = perchCommand("secrets", "set", "github_token", "--host", "api.github.com");
    for (const typed of ["\u0003", ""]) {
      const { shown } = await onTerminal(desk, "Value of github_token: ", typed, set);
      expect(shown).not.toContain("created");
    }
    expect((await desk.perch(["secrets", "--json"])).json()).toMatchObject({ data: [] });
  });

  const hasProcesses = existsSync("/proc/self/cmdline");
  test.skipIf(!hasProcesses)("has the value in no process's arguments, nor does perch apply", async () => {
    const desk = await newDesk(server());
    writeFileSync(
      join(desk.cwd, "agent.yaml"),
      "name: bot\nmodel: perch/echo\nsecrets:\n  github_token:\n    hosts: [api.github.com]\n",
    );
    const start = (args: string[], env: NodeJS.ProcessEnv = {}) =>
      spawn(process.execPath, [main, ...args], {
        cwd: desk.cwd,
        env: { ...environmentOf(desk), ...env },
        stdio: ["pipe", "pipe", "pipe"],
      });
    const seen: string[] = [];
    for (const child of [
      start(["secrets", "set", "github_token", "--host", "api.github.com"]),
      start(["apply", "--yes"], { GITHUB_TOKEN: value }),
    ]) {
      child.stdin.end(`${value}\n`);
      const output = Promise.all([text(child.stdout), text(child.stderr)]);
      while (child.exitCode === null) {
        seen.push(...processArguments());
        await sleep(50);
      }
      expect([child.exitCode, (await output).join("")]).toEqual([0, expect.not.stringContaining(value)]);
    }
    expect(seen.some((line) => line.includes("github_token"))).toBe(true);
    expect(seen.filter((line) => line.includes(value))).toEqual([]);
  });
});

test("perch login does not show the key that is typed either, if its result goes into a pipe", async () => {
  const desk = await newDesk(server());
  const { PERCH_API_KEY: key = "", PERCH_URL: url = "" } = desk.env;
  const login = ["bash", "-o", "pipefail", "-c", '"$@" | cat', "login", ...perchCommand("login", "--url", url)];
  const { code, shown } = await onTerminal(desk, "API key: ", key, login);
  expect([code, shown.includes("Profile default"), shown.includes(key)]).toEqual([0, true, false]);
});
