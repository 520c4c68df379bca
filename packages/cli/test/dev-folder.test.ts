import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { createAgreeToSend } from "../src/agent-file/agree-to-send.ts";
import type { Session } from "../src/command.ts";
import { missingEngine } from "../src/dev/engine.ts";
import { findProviderKeys } from "../src/dev/provider-keys.ts";
import { serverSettings } from "../src/dev/server.ts";
import { resetDev } from "../src/dev/start-dev.ts";
import { folderOf, openFolder, readState } from "../src/dev/state.ts";
import { createRemembered } from "../src/remembered.ts";
import { createShell } from "./shell.ts";

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "perch-dev-folder-"));
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Should it start after all, it is stopped in order, and the test fails. */
const isReady = (stdout: string): boolean => stdout.includes("Perch is ready");

describe("a .perch that perch dev did not write", () => {
  const whole = { url: "http://127.0.0.1:1", key: "k", masterKey: Buffer.alloc(32, 1).toString("base64"), ports: {} };
  test.each([
    ["is not JSON", "{"],
    ["is empty", ""],
    ["is another value", "[]"],
    ["has no master key", JSON.stringify({ ...whole, masterKey: undefined })],
    ["has half a master key", JSON.stringify({ ...whole, masterKey: whole.masterKey.slice(0, 20) })],
    ["has a port that is none", JSON.stringify({ ...whole, ports: { api: "x" } })],
    ["has another kind of key", JSON.stringify({ ...whole, key: 1 })],
  ])("a dev.json that %s is named, with the command that removes it, and stays", async (_, text) => {
    const cwd = newFolder();
    mkdirSync(join(cwd, ".perch"));
    writeFileSync(join(cwd, ".perch/dev.json"), text);
    const { code, stderr } = await createShell({ cwd })(["dev"], { until: isReady });
    expect(code).toBe(1);
    expect(stderr).toContain(`${join(cwd, ".perch/dev.json")} is damaged, or perch dev did not write it.\n`);
    expect(stderr).toContain("`perch dev --reset` removes all of .perch/");
    expect(readFileSync(join(cwd, ".perch/dev.json"), "utf8")).toBe(text);
  });

  test("a file in the folder's place is named, and --reset asks before it removes it", async () => {
    const cwd = newFolder();
    const perch = createShell({ cwd });
    writeFileSync(join(cwd, ".perch"), "mine");
    expect((await perch(["dev"], { until: isReady })).stderr).toContain(
      `${join(cwd, ".perch")} is damaged, or perch dev did not write it.`,
    );
    expect((await perch(["dev", "--reset"])).stderr).toContain("There is no terminal to ask on.");
    expect(readFileSync(join(cwd, ".perch"), "utf8")).toBe("mine");
    await resetDev(cwd);
    expect(existsSync(join(cwd, ".perch"))).toBe(false);
  });
});

describe("a .perch that came with the folder", () => {
  const state = { url: "", key: null, masterKey: Buffer.alloc(32, 7).toString("base64"), ports: {}, schema: "" };
  const withFile = () => {
    const folder = folderOf(newFolder());
    mkdirSync(folder.root);
    writeFileSync(join(folder.root, "dev.json"), JSON.stringify(state));
    return folder;
  };
  const rememberedIn = (config: string) => createRemembered({ XDG_CONFIG_HOME: config });

  test("is not believed, with or without its dev.json, and nothing of it is started", async () => {
    const folder = withFile();
    const remembered = rememberedIn(newFolder());
    await expect(readState(folder, remembered)).rejects.toThrow("was not made by you on this machine");
    rmSync(join(folder.root, "dev.json"));
    mkdirSync(folder.database);
    await expect(readState(folder, remembered)).rejects.toThrow("was not made by you on this machine");
  });

  test("is believed by the user who made it, also after the folder was moved", async () => {
    const config = newFolder();
    const made = openFolder(newFolder());
    const { masterKey } = await readState(made, rememberedIn(config));
    expect((await readState(made, rememberedIn(config))).masterKey).toBe(masterKey);
    const moved = openFolder(newFolder());
    writeFileSync(join(moved.root, "dev.json"), readFileSync(join(made.root, "dev.json")));
    expect((await readState(moved, rememberedIn(config))).masterKey).toBe(masterKey);
    expect(readFileSync(join(config, "perch/remembered.json"), "utf8")).not.toContain(masterKey);
  });
});

describe("a value that a file asks for", () => {
  const secret = (hosts: string[]) => ({ name: "a", variable: "AWS_SECRET_ACCESS_KEY", hosts });
  const ofEnvironment = { value: "s3cret", source: "environment" } as const;
  const ofFile = { value: "s3cret", source: ".env" } as const;
  const asked: string[] = [];
  const agree = (config: string, answer: boolean | undefined) => {
    const confirm = async (question: string) => {
      asked.push(question);
      return answer === true;
    };
    const terminal = { isInteractive: answer !== undefined, confirm } as unknown as Session["terminal"];
    return createAgreeToSend({ terminal, env: { XDG_CONFIG_HOME: config } });
  };
  afterEach(() => void asked.splice(0));

  test("goes to a host once the user has seen both, and is asked for again only for another host or folder", async () => {
    const [config, file] = [newFolder(), join(newFolder(), "agent.yaml")];
    expect(await agree(config, true)(secret(["api.example.com"]), ofEnvironment, file)).toBe(true);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatch(/AWS_SECRET_ACCESS_KEY of your environment.*to api\.example\.com\./);
    expect(asked[0]).not.toContain("s3cret");
    // Remembered, also without a terminal.
    expect(await agree(config, undefined)(secret(["api.example.com"]), ofEnvironment, file)).toBe(true);
    expect(await agree(config, false)(secret(["evil.example"]), ofEnvironment, file)).toBe(false);
    expect(await agree(config, false)(secret(["api.example.com", "evil.example"]), ofEnvironment, file)).toBe(false);
    const other = join(newFolder(), "agent.yaml");
    expect(await agree(config, false)(secret(["api.example.com"]), ofEnvironment, other)).toBe(false);
    expect(asked).toHaveLength(4);
  });

  test("is asked for once if the user refuses, and goes nowhere without a terminal unless it is in .env", async () => {
    const [config, file] = [newFolder(), join(newFolder(), "agent.yaml")];
    const refusing = agree(config, false);
    expect(await refusing(secret(["evil.example"]), ofFile, file)).toBe(false);
    expect(await refusing(secret(["evil.example"]), ofFile, file)).toBe(false);
    expect(asked).toHaveLength(1);
    expect(await agree(config, undefined)(secret(["evil.example"]), ofEnvironment, file)).toBe(false);
    expect(await agree(config, undefined)(secret(["evil.example"]), ofFile, file)).toBe(true);
  });
});

describe("perch dev --reset", () => {
  test("removes a folder in which a file has the place of a folder", async () => {
    const cwd = newFolder();
    mkdirSync(join(cwd, ".perch"));
    writeFileSync(join(cwd, ".perch/logs"), "mine");
    const perch = createShell({ cwd });
    expect((await perch(["dev"], { until: isReady })).stderr).toContain(`${join(cwd, ".perch/logs")} is damaged`);
    expect((await perch(["dev", "--reset"])).stderr).toContain("There is no terminal to ask on.");
    await resetDev(cwd);
    expect(existsSync(join(cwd, ".perch"))).toBe(false);
  });

  test("does not change a folder in which perch dev was started while it asked", async () => {
    const cwd = newFolder();
    mkdirSync(join(cwd, ".perch"));
    writeFileSync(join(cwd, ".perch/lock"), String(process.ppid));
    await expect(resetDev(cwd)).rejects.toThrow("perch dev runs here already");
    expect(existsSync(join(cwd, ".perch/lock"))).toBe(true);
  });
});

describe("the settings of the server of perch dev", () => {
  const database = { ownerUrl: "postgres://owner", serverUrl: "postgres://server", close: async () => {} };
  const ports = { api: 1, worker: 2, database: 3, ingress: 4, admin: 5, node: 6 };
  const state = { url: "", key: null, masterKey: Buffer.alloc(32, 1).toString("base64"), ports, schema: "" };
  const settings = () => serverSettings(state, database, folderOf("/nowhere"));
  afterEach(() => void vi.unstubAllEnvs());

  test.each([
    ["of other programs", "PERCH_AGENT"],
    ["that name a file", "PERCH_MASTER_KEY_FILE"],
    ["of another Valkey", "PERCH_VALKEY_URL_FILE"],
    ["of a security policy", "PERCH_SECURITY"],
  ])("have no variables of the shell %s", (_, name) => {
    vi.stubEnv(name, "/elsewhere");
    expect(settings()).not.toHaveProperty(name);
    expect(settings()).toHaveProperty("PATH");
  });

  test.each(["PERCH_PROVIDERS", "PERCH_DEFAULT_LOGS", "PERCH_PUBLIC_URL"])("have %s of the shell", (name) => {
    vi.stubEnv(name, "mine");
    expect(settings()).toMatchObject({ [name]: "mine" });
  });
});

describe("the engine's package", () => {
  test("that is not installed is named, with the command that installs it", () => {
    const { message, hint } = missingEngine("linux-x64");
    expect(message).toBe("The engine's package, @restatedev/restate-server-linux-x64, is not installed.");
    expect(hint).toContain("npm install --include=optional");
  });

  test("does not exist for every platform, and then no install is suggested", () => {
    const { message, hint } = missingEngine("win32-x64");
    expect(message).toBe("perch dev cannot run on win32-x64: there is no engine for it.");
    expect(hint).toContain("WSL");
    expect(hint).not.toContain("npm install");
  });
});

describe("keys of well-known providers", () => {
  const found = (env: NodeJS.ProcessEnv, file = "") => {
    const cwd = newFolder();
    writeFileSync(join(cwd, ".env"), file);
    return findProviderKeys(cwd, env);
  };

  test("come from the environment, or else from .env, and only their names are shown", () => {
    const { settings, providers, lines } = found(
      { OPENAI_API_KEY: "key-1", ANTHROPIC_API_KEY: "" },
      "OPENAI_API_KEY=key-2\nANTHROPIC_API_KEY=key-3\nGEMINI_API_KEY=key-4\nMAPS_KEY=key-5\n",
    );
    expect(settings).toEqual({
      PERCH_OPENAI_API_KEY: "key-1",
      PERCH_ANTHROPIC_API_KEY: "key-3",
      PERCH_GOOGLE_API_KEY: "key-4",
    });
    expect(providers).toEqual(["openai", "anthropic", "google"]);
    expect(lines).toEqual([
      "Provider openai is ready, with OPENAI_API_KEY of the environment: use model: openai/<model>",
      "Provider anthropic is ready, with ANTHROPIC_API_KEY of .env: use model: anthropic/<model>",
      "Provider google is ready, with GEMINI_API_KEY of .env: use model: google/<model>",
    ]);
  });

  test("the server's own setting wins", () => {
    const { settings } = found({ PERCH_OPENAI_API_KEY: "own", OPENAI_API_KEY: "other" });
    expect(settings).toEqual({ PERCH_OPENAI_API_KEY: "own" });
  });

  test.each(["two words", "{{secret.x}}"])("%j, which the server would refuse to start with, is left out", (value) => {
    const { settings, providers, lines } = found({ OPENAI_API_KEY: value });
    expect([settings, providers]).toEqual([{}, []]);
    expect(lines).toEqual([
      "OPENAI_API_KEY of the environment is not used: a key has visible characters only, without spaces.",
    ]);
  });

  test("without any, nothing is printed", () => {
    expect(found({}, "MAPS_KEY=1\n")).toEqual({ settings: {}, providers: [], lines: [] });
  });
});
