import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { findConnection } from "../src/connection.ts";
import { createShell } from "./shell.ts";

/** An attacker's server, which records every key that it gets. */
let listener: Server;
let listenerUrl: string;
const stolen: string[] = [];
let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  listener = createServer((request, response) => {
    if (request.headers.authorization) stolen.push(request.headers.authorization);
    response.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  listenerUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
});
afterAll(() => void listener.close());

const profileKey = "perch_profile";
beforeEach(() => {
  stolen.length = 0;
  folder = mkdtempSync(join(tmpdir(), "perch-connection-"));
  env = { XDG_CONFIG_HOME: join(folder, "config") };
  mkdirSync(join(folder, "config/perch"), { recursive: true });
  const profiles = { mine: { url: "http://127.0.0.1:1", key: profileKey } };
  writeFileSync(join(folder, "config/perch/config.json"), JSON.stringify({ current: "mine", profiles }));
  return () => rmSync(folder, { recursive: true, force: true });
});

function plant(content: unknown): string {
  const cwd = join(folder, "cloned/deeper");
  mkdirSync(cwd, { recursive: true });
  mkdirSync(join(folder, "cloned/.perch"));
  writeFileSync(
    join(folder, "cloned/.perch/dev.json"),
    typeof content === "string" ? content : JSON.stringify(content),
  );
  return cwd;
}

describe("the key of one server", () => {
  test.each<[string, string[], (url: string) => NodeJS.ProcessEnv, string]>([
    ["a profile, to --url", ["--url", "URL"], () => ({}), "Save a key for it with `perch login NAME"],
    ["a named profile, to --url", ["--url", "URL", "--profile", "mine"], () => ({}), "either --profile"],
    ["a named profile, to PERCH_URL", [], (url) => ({ PERCH_URL: url, PERCH_PROFILE: "mine" }), "PERCH_API_KEY"],
    ["a profile, to PERCH_URL", [], (url) => ({ PERCH_URL: url }), "Set PERCH_API_KEY too"],
    ["the environment, to --url", ["--url", "URL"], () => ({ PERCH_API_KEY: "perch_environment" }), "--key"],
    ["--key, to PERCH_URL", ["--key", "perch_option"], (url) => ({ PERCH_URL: url }), "Give --url too"],
  ])("is never sent to another: of %s", async (_, args, variables, hint) => {
    const shell = createShell({ cwd: folder, env: { ...env, ...variables(listenerUrl) } });
    const { code, stderr } = await shell(["agents", ...args.map((word) => word.replace("URL", listenerUrl))]);
    expect(code).not.toBe(0);
    expect(stolen).toEqual([]);
    expect(stderr).toContain(hint);
  });

  test.each([
    ["environment", { PERCH_API_KEY: "perch_environment" }],
    ["option", {}],
  ])("of the %s is not sent to the address in a cloned folder", async (source, variables) => {
    const cwd = plant({ url: listenerUrl, key: "perch_planted" });
    const shell = createShell({ cwd, env: { ...env, ...variables } });
    const { code } = await shell(source === "option" ? ["agents", "--key", "perch_option"] : ["agents"]);
    expect(code).toBe(1);
    expect(stolen).toEqual([]);
  });

  test("is sent by login to the address that was named with it alone", async () => {
    const shell = createShell({ cwd: folder, env: { ...env, PERCH_URL: "http://127.0.0.1:1", PERCH_API_KEY: "k" } });
    await shell(["login", "--url", listenerUrl], { input: "perch_typed\n" });
    expect(stolen).toEqual(["Bearer perch_typed"]);
    expect((await shell(["login", "--key", "perch_option"])).stderr).toContain("--key needs --url");
  });
});

describe("which server a command uses", () => {
  const dev = { url: "http://127.0.0.1:7400", key: "perch_dev" };
  const variables = { PERCH_URL: "http://127.0.0.1:3", PERCH_API_KEY: "perch_environment" };
  const add = (name: string, url: string) => {
    const file = join(folder, "config/perch/config.json");
    const { current, profiles } = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ current, profiles: { ...profiles, [name]: { url, key: `perch_${name}` } } }));
  };

  /** From the highest precedence to the lowest. Each is given together with all that come after it. */
  const order: readonly [string, object, NodeJS.ProcessEnv, string, string][] = [
    [
      "--url and --key",
      { url: "http://127.0.0.1:2", key: "k" },
      { ...variables, PERCH_PROFILE: "other" },
      "http://127.0.0.1:2",
      "--url and --key are given",
    ],
    [
      "--profile",
      { profile: "mine" },
      { ...variables, PERCH_PROFILE: "other" },
      "http://127.0.0.1:1",
      "--profile names the profile mine",
    ],
    [
      "the two variables",
      {},
      { ...variables, PERCH_PROFILE: "other" },
      "http://127.0.0.1:3",
      "PERCH_URL and PERCH_API_KEY are set",
    ],
    ["PERCH_PROFILE", {}, { PERCH_PROFILE: "other" }, "http://127.0.0.1:5", "PERCH_PROFILE names the profile other"],
    ["perch dev", {}, {}, dev.url, "perch dev was started in"],
  ];

  test.each(order)("%s comes before everything below it, and says why", (_, options, extra, url, reason) => {
    add("other", "http://127.0.0.1:5");
    const found = findConnection(options, { ...env, ...extra }, plant(dev));
    expect(found.url).toBe(url);
    expect(found.reason).toContain(reason);
  });

  test("the current profile comes last", () => {
    const found = findConnection({}, env, folder);
    expect(found).toMatchObject({ url: "http://127.0.0.1:1", reason: "mine is the current profile" });
  });

  test.each<[string, NodeJS.ProcessEnv, boolean, string]>([
    ["perch dev", {}, true, "perch dev was started in"],
    ["the two variables", variables, false, "PERCH_URL and PERCH_API_KEY are set"],
    ["PERCH_PROFILE", { PERCH_PROFILE: "mine" }, false, "PERCH_PROFILE names the profile mine"],
  ])(
    "profiles use and profiles show that %s comes first, and how to use the profile",
    async (_, extra, isDev, reason) => {
      add("other", "http://127.0.0.1:5");
      const shell = createShell({ cwd: isDev ? plant(dev) : folder, env: { ...env, ...extra } });
      for (const args of [["profiles", "use", "other"], ["profiles"]]) {
        const { code, stderr } = await shell(args);
        expect(code).toBe(0);
        expect(stderr).toContain(`The current profile, other, is not used here: ${reason}`);
        expect(stderr).toContain("--profile other uses it.");
      }
    },
  );

  test("profiles use takes effect if nothing comes first, and profiles shows that", async () => {
    add("other", "http://127.0.0.1:5");
    const shell = createShell({ cwd: folder, env });
    expect(await shell(["profiles", "use", "other"])).toMatchObject({
      stdout: "other is the current profile.\n",
      stderr: "",
    });
    expect(findConnection({}, env, folder).url).toBe("http://127.0.0.1:5");
    const named = await shell(["profiles", "use", "other"], { env: { PERCH_PROFILE: "other" } });
    expect(named).toMatchObject({ code: 0, stderr: "" });
    expect((await shell(["profiles"])).stderr).toBe(
      "Commands go to http://127.0.0.1:5: other is the current profile.\n",
    );
    expect((await shell(["profiles", "use", "othr"])).stderr).toContain(
      "There is no profile othr. Did you mean other?",
    );
  });
});

describe("the file of perch dev", () => {
  test("gives its own address with its own key, also in folders below", () => {
    const cwd = plant({ url: "http://127.0.0.1:7400", key: "perch_dev" });
    expect(findConnection({}, env, cwd)).toMatchObject({ url: "http://127.0.0.1:7400", key: "perch_dev" });
    expect(findConnection({ profile: "mine" }, env, cwd)).toMatchObject({ key: profileKey });
  });

  test.each([
    "https://evil.example",
    "http://127.0.0.1.evil.example",
    "http://127.0.0.1@evil.example",
    "http://10.0.0.1:7400",
    "http://0.0.0.0:7400",
    "file:///127.0.0.1",
    "127.0.0.1:7400",
  ])("does not count with %s, and the command reports that instead of going elsewhere", (url) => {
    const cwd = plant({ url, key: "perch_planted" });
    expect(() => findConnection({}, env, cwd)).toThrow("is not on this machine");
    expect(findConnection({ profile: "mine" }, env, cwd)).toMatchObject({ key: profileKey });
  });

  test("of another user does not count", () => {
    const cwd = plant({ url: "http://127.0.0.1:7400", key: "perch_planted" });
    const uid = vi.spyOn(process, "getuid").mockReturnValue(54_321);
    expect(() => findConnection({}, env, cwd)).toThrow("belongs to another user");
    uid.mockRestore();
  });

  test.each(["", "[", "null", '{"url": 1}'])("that holds %j gives no address", (content) => {
    const cwd = plant(content);
    const find = () => findConnection({}, env, cwd);
    if (content === '{"url": 1}') expect(find()).toMatchObject({ key: profileKey });
    else expect(find).toThrow("is not what perch dev writes");
  });
});
