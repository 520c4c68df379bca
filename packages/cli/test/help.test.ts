import { tmpdir } from "node:os";
import { afterEach, describe, expect, test, vi } from "vitest";
import { completionsOf } from "../src/commands/completion.ts";
import { commandGroups, commands } from "../src/commands.ts";
import { commandHelp, helpColumns, overview, topicHelp } from "../src/help.ts";
import { createShell } from "./shell.ts";

const perch = createShell({ cwd: tmpdir(), env: { XDG_CONFIG_HOME: "/nonexistent" } });
afterEach(() => void vi.unstubAllEnvs());

describe("perch --help", () => {
  test("lists every command", async () => {
    const { code, stdout } = await perch(["--help"]);
    expect(code).toBe(0);
    expect(commands.length).toBeGreaterThan(40);
    for (const { name } of commands) {
      const [word = "", second = ""] = name.split(" ");
      // A long entry goes on in the lines below it, which are indented further.
      expect(stdout).toMatch(new RegExp(`^  ${word} +.*(\\n {4,}.*)*${second}`, "m"));
    }
    expect(stdout).toMatchSnapshot();
  });

  test("every command is in exactly one group", () => {
    const names = commandGroups.flatMap((group) => group.commands.map(({ name }) => name));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names).toEqual(commands.map(({ name }) => name));
    const words = commandGroups.map((group) => new Set(group.commands.map(({ name }) => name.split(" ")[0])));
    expect(words.flatMap((own) => [...own])).toHaveLength(new Set(words.flatMap((own) => [...own])).size);
    for (const { subjects = {}, commands: own } of commandGroups)
      for (const { name } of own.filter((one) => one.name.includes(" ")))
        expect(subjects[name.split(" ")[0] ?? ""], name).toBeTruthy();
  });

  test.each([
    ["perch", 80],
    ["npx perch", 80],
    ["npx perch", 300],
    ["npx perch", 60],
  ])(
    "no line of any help is too long for its terminal, and no word is broken: %s at %i columns",
    (program, columns) => {
      vi.stubEnv("npm_command", program === "perch" ? "" : "exec");
      const width = helpColumns(columns);
      expect(width).toBe(Math.min(columns, 80));
      const topics = new Set(
        commands.filter(({ name }) => name.includes(" ")).map(({ name }) => name.split(" ")[0] ?? ""),
      );
      const texts = [
        overview(commandGroups, width),
        ...[...topics].map((topic) => topicHelp(commands, topic, width)),
        ...commands.map((command) => commandHelp(command, width)),
      ];
      expect(texts.length).toBeGreaterThan(50);
      const lines = texts.flatMap((text) => text.split("\n"));
      // Text that the user types is not broken, and below 80 columns it may not fit.
      const isExample = (line: string) => /^ {2}(npx )?perch |^ {4}--/.test(line);
      const isLong = (line: string) => line.length > (isExample(line) ? 80 : width);
      expect(lines.filter(isLong)).toEqual([]);
      const words = (text: string) => text.split(/\s+/).join(" ");
      for (const command of commands) expect(words(commandHelp(command, width))).toContain(words(command.summary));
    },
  );

  test("perch help explains a command, a group or everything", async () => {
    const text = async (...args: string[]) => (await perch(args)).stdout;
    expect(await text("help")).toBe(await text("--help"));
    expect(await text("help", "logs")).toBe(await text("logs", "--help"));
    expect(await text("help", "runs", "get")).toBe(await text("runs", "get", "--help"));
    expect(await text("help", "memory")).toBe(await text("memory"));
    expect((await perch(["help", "lgos"])).stderr).toContain("Did you mean perch logs?");
  });

  test("a group without a command shows its commands if a list needs an argument, and lists if it needs none", async () => {
    const { code, stdout } = await perch(["memory"]);
    expect(code).toBe(0);
    for (const word of ["list", "search", "add", "clear"]) expect(stdout).toContain(`  memory ${word} <agent>`);
    for (const word of ["keys", "runs", "deployments"])
      expect((await perch([word])).stderr).toContain("No server to talk to.");
  });

  test("nothing at all is a question for help", async () => {
    expect((await perch([])).stdout).toBe((await perch(["--help"])).stdout);
  });

  test("a group lists its own", async () => {
    const { code, stdout } = await perch(["help", "keys"]);
    expect(code).toBe(0);
    expect(stdout).toMatchSnapshot();
  });

  test.each(commands)("perch $name --help", async ({ name, summary, options }) => {
    const { code, stdout, stderr } = await perch([...name.split(" "), "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`Usage: perch ${name}`);
    expect(stdout.split(/\s+/).join(" ")).toContain(summary);
    for (const option of ["json", "profile", "url", "key", ...Object.keys(options)])
      expect(stdout).toContain(`--${option}`);
    // The form is the same for all, so one stands for it.
    if (name === "invoke") expect(stdout).toMatchSnapshot();
  });
});

describe("wrong usage ends with 2 and shows why", () => {
  test.each([
    [["nonsense"], 'There is no command "perch nonsense".\n'],
    [["keys", "steal"], 'There is no command "perch keys steal".\n'],
    [["invok", "bot"], 'There is no command "perch invok". Did you mean perch invoke?\n'],
    [["runs", "cancle", "bot", "req_1"], 'There is no command "perch runs cancle". Did you mean perch runs cancel?\n'],
    [["webhooks", "lst"], 'There is no command "perch webhooks lst". Did you mean perch webhooks list?\n'],
    [["runs", "bot", "surplus"], '"surplus" is one word too many'],
    [["runs", "bot", "--cursor", "x"], "--cursor is for the list of all agents. Use --offset, or leave out the agent."],
    [["deployments", "--offset", "5"], "--offset is for the list of one agent. Use --cursor, or name the agent."],
    [["logs", "bot", "--folow"], "Unknown option '--folow'. Did you mean --follow?\n"],
    [["logs", "bot", "--level", "eror"], "--level is one of debug, info, warn, error. Did you mean error?\n"],
    [["metrics", "bot", "trhoughput"], "Did you mean throughput?"],
    [["completion", "bsh"], "Did you mean bash?"],
    [["logs"], "<agent> is missing"],
    [["logs", "bot", "too", "many"], '"too" is one word too many'],
    [["logs", "bot", "--level", "loud"], "--level is one of debug, info, warn, error"],
    [["logs", "bot", "--nonsense"], "Unknown option '--nonsense'"],
    [["logs", "bot", "--since", "yesterday"], "--since is how long ago"],
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
    expect(words.get("keys")?.filter((word) => !word.startsWith("--"))).toEqual([
      ...["begin-mfa", "create", "list", "revoke", "rotate"],
    ]);
    expect(words.get("keys rotate")).toEqual(expect.arrayContaining(["--overlap", "--json"]));
    expect(words.get("agents")).toEqual(expect.arrayContaining(["get", "delete", "--limit"]));
  });

  test.each(["bash", "zsh", "fish"])("prints a script for %s", async (shell) => {
    const { code, stdout } = await perch(["completion", shell]);
    expect(code).toBe(0);
    expect(stdout).toContain("rotate");
  });
});
