import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { linkIn, signIn } from "../../server/test/support/browser.ts";
import { sendRawRequest } from "../../server/test/support/raw-request.ts";
import { createShell } from "./shell.ts";

const cwd = mkdtempSync(join(tmpdir(), "perch-dev-"));
const main = join(import.meta.dirname, "../src/main.ts");
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PERCH_"))),
  GITHUB_TOKEN: "s3cret-of-environment",
  XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), "perch-dev-config-")),
};
const perch = createShell({ cwd, env: { XDG_CONFIG_HOME: cwd } });
const longMs = 180_000;
let running: ChildProcess | undefined;
let printed = "";
/** The run that is under way when `perch dev` is killed. */
let patientRun = "";
let isHeld = true;
let toolCalls = 0;
/** A tool that does not answer while `isHeld`. */
const tool = createServer(({ method }, response) => {
  if (method === "POST") toolCalls++;
  if (method !== "POST" || !isHeld) response.end("now");
});

interface State {
  readonly url: string;
  readonly key: string;
}
const state = (): State => JSON.parse(readFileSync(join(cwd, ".perch/dev.json"), "utf8")) as State;

/** Runs `perch dev` from the source, until it reports that it is ready. */
async function start(...args: string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [main, "dev", ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    printed += chunk.toString();
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      printed += chunk.toString();
      if (output.includes("Perch is ready")) resolve();
    });
    child.once("exit", (code) => reject(new Error(`perch dev ended with ${code}:\n${output}`)));
  });
  running = child;
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exited = once(child, "exit");
  child.kill(signal);
  const [code] = (await exited) as [number | null];
  running = undefined;
  return code;
}

const answers = () =>
  fetch(`${state().url}/healthz`).then(
    () => true,
    () => false,
  );

afterAll(async () => {
  if (running) await end(running, "SIGINT");
  tool.closeAllConnections();
  tool.close();
  for (const folder of [cwd, env.XDG_CONFIG_HOME]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

describe("perch dev", () => {
  test("starts from nothing, applies agent.yaml, and answers the other commands of the folder", {
    timeout: longMs,
  }, async () => {
    writeFileSync(join(cwd, "agent.yaml"), "name: bot\nmodel: perch/echo\n");
    await start();
    expect(statSync(join(cwd, ".perch/dev.json")).mode & 0o777).toBe(0o600);
    await expect.poll(async () => (await perch(["agents"])).stdout, { timeout: 20_000 }).toContain("bot");
    expect(await perch(["invoke", "bot", "Hello"])).toMatchObject({ code: 0, stdout: "Hello\n" });
    expect(await perch(["deploy", "bot", "--label", "v1"])).toMatchObject({ code: 0 });
    expect(await perch(["memory", "add", "bot", "Ada likes tea"])).toMatchObject({ code: 0 });
    expect((await perch(["memory", "search", "bot", "tea"])).stdout).toContain("Ada likes tea");
  });

  test("prints an address that signs a browser in to the console once, and answers only for loopback names", async () => {
    const [address = ""] = /http:\/\/127\.0\.0\.1:\d+\/console\/sign-in#link=[\w-]{43}$/m.exec(printed) ?? [];
    const { session } = await signIn(state().url, { link: linkIn(address) });
    expect(session.role).toBe("admin");
    const headers = { host: "evil.example" };
    expect((await sendRawRequest(`${state().url}/v1/me`, { key: state().key, headers })).status).toBe(403);
  });

  test("one at a time in a folder", async () => {
    const { code, stderr } = await perch(["dev"]);
    expect(code).toBe(1);
    expect(stderr).toContain("perch dev runs here already");
  });

  test("applies agent.yaml whenever it is saved", async () => {
    writeFileSync(join(cwd, "agent.yaml"), "name: bot\nmodel: perch/echo\ntemperature: 0.25\n");
    await expect
      .poll(async () => (await perch(["agents", "get", "bot"])).stdout, { timeout: 20_000 })
      .toContain("temperature: 0.25");
  });

  test("sends no value of the environment to the hosts of a file, asked by nobody; those of .env are set whenever it is saved", async () => {
    const requests: string[] = [];
    const host = createServer(({ url = "" }, response) => {
      requests.push(url);
      response.end();
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void host.close());
    await once(host, "listening");
    const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
    const secret = (name: string) => `  ${name}:\n    hosts: ["${origin}"]\n`;
    const headers = `{x-a: "{{secret.github_token}}", x-b: "{{secret.maps_key}}"}`;
    const tools = `tools:\n  - {type: mcp, name: docs, url: "${origin}/mcp", headers: ${headers}}\n`;
    const file = `name: bot\nmodel: perch/echo\nsecrets:\n${secret("github_token")}${secret("maps_key")}`;
    writeFileSync(join(cwd, "agent.yaml"), file + tools);
    const names = async () => (await perch(["secrets", "--agent", "bot"])).stdout.match(/^[a-z]\w+/gm);
    await expect.poll(() => printed, { timeout: 20_000 }).toContain("the value of GITHUB_TOKEN was not sent to");
    await expect.poll(() => printed, { timeout: 20_000 }).toContain("MAPS_KEY is not set");
    writeFileSync(join(cwd, ".env"), "MAPS_KEY=s3cret-of-env-file\n");
    await expect.poll(names, { timeout: 20_000 }).toEqual(["maps_key"]);
    await expect.poll(() => printed, { timeout: 20_000 }).toContain("secret maps_key: set from MAPS_KEY of .env");
    // The file was applied, and nothing but a run or a command of the user calls its hosts.
    expect(requests).toEqual([]);
    writeFileSync(join(cwd, "agent.yaml"), file);
    await expect
      .poll(async () => (await perch(["agents", "get", "bot"])).stdout, { timeout: 20_000 })
      .not.toContain("docs");
  });

  test("has no value of a secret in its output, in a file of the folder, or in the arguments of a process", () => {
    expect(printed).not.toContain("s3cret");
    const files = readdirSync(cwd, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const holders = files.filter((file) => /s3cret-of|czNjcmV0/.test(readFileSync(file, "latin1")));
    expect(files.length).toBeGreaterThan(100);
    expect(holders).toEqual([join(cwd, ".env")]);
    if (!existsSync("/proc/self/cmdline")) return;
    const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    const commands = processes.flatMap((pid) => {
      const file = `/proc/${pid}/cmdline`;
      return existsSync(file) ? [readFileSync(file, "latin1")] : [];
    });
    expect(commands.some((command) => command.includes(main))).toBe(true);
    expect(commands.filter((command) => command.includes("s3cret-of"))).toEqual([]);
  });

  test("a run waits for a tool after its first step", { timeout: longMs }, async () => {
    await once(tool.listen(0, "127.0.0.1"), "listening");
    const { port } = tool.address() as AddressInfo;
    const steps = [{ tool_calls: [{ name: "wait", arguments: {} }] }, { reply: "It was worth the wait." }];
    const file = join(cwd, "patient.json");
    const definition = {
      name: "patient",
      model: "perch/script",
      instructions: JSON.stringify({ steps }),
      tools: [
        {
          type: "http",
          name: "wait",
          description: "Answers late.",
          method: "POST",
          url: `http://127.0.0.1:${port}/wait`,
          parameters: { type: "object" },
        },
      ],
    };
    writeFileSync(file, JSON.stringify(definition));
    expect(await perch(["apply", "-f", file, "--yes"])).toMatchObject({ code: 0 });
    const begun = await perch(["invoke", "patient", "Take your time", "--async", "--json"]);
    patientRun = begun.json<{ request_id: string }>().request_id;
    await expect.poll(() => toolCalls, { timeout: 20_000 }).toBeGreaterThan(0);
  });

  test("killed without a word, it leaves no server behind, and the next start has all data", {
    timeout: longMs,
  }, async () => {
    if (running) await end(running, "SIGKILL");
    await expect.poll(answers, { timeout: 20_000 }).toBe(false);
    // As an earlier release would have left it.
    writeFileSync(join(cwd, ".perch/dev.json"), JSON.stringify({ ...state(), release: "0.0.1" }));
    isHeld = false;
    mkdirSync(join(cwd, "agents"));
    writeFileSync(join(cwd, ".env"), "OPENAI_API_KEY=s3cret-of-env-file\n");
    await start("-f", "agent.yaml", "-f", "agents");
    expect((await perch(["runs", "bot", "--json"])).json()).toMatchObject({ pagination: { total: 1 } });
    expect(await perch(["invoke", "bot", "Again"])).toMatchObject({ code: 0, stdout: "Again\n" });
  });

  test("a run that was under way ends after an upgrade", { timeout: longMs }, async () => {
    const run = async () => (await perch(["runs", "get", "patient", patientRun, "--json"])).json<{ status: string }>();
    await expect.poll(async () => (await run()).status, { timeout: 60_000 }).toBe("completed");
  });

  test("a provider whose key is in .env is ready, and the key is not printed", async () => {
    expect(printed).toContain("Provider openai is ready, with OPENAI_API_KEY of .env: use model: openai/<model>\n");
    expect((await perch(["models"])).stdout).toContain("openai/*");
    expect(printed).not.toContain("s3cret");
  });

  test("applies the files of a folder, also new ones, and names both places of one name", async () => {
    const save = (name: string, agent: string) =>
      writeFileSync(join(cwd, "agents", name), `name: ${agent}\nmodel: perch/echo\n`);
    save("second.yaml", "second");
    await expect.poll(async () => (await perch(["agents"])).stdout, { timeout: 20_000 }).toContain("second");
    save("again.yml", "bot");
    await expect
      .poll(() => printed, { timeout: 20_000 })
      .toContain("2 agents are called bot: agent.yaml:1 and agents/again.yml:1.");
    save("third.yaml", "third");
    await expect.poll(async () => (await perch(["agents"])).stdout, { timeout: 20_000 }).toContain("third");
    await expect.poll(() => printed, { timeout: 20_000 }).toContain("agents/third.yaml: third created");
  });

  test("ctrl-c stops all of it, and ends with 0", { timeout: longMs }, async () => {
    const engine = Number(readFileSync(join(cwd, ".perch/engine.pid"), "utf8"));
    expect(running && (await end(running, "SIGINT"))).toBe(0);
    expect(await answers()).toBe(false);
    expect(() => process.kill(engine, 0)).toThrow();
  });

  test("damaged data are named, with the command that removes them", { timeout: longMs }, async () => {
    const file = join(cwd, ".perch/database/global/pg_control");
    const whole = readFileSync(file);
    writeFileSync(file, "not a database");
    const failure = await start("-f", "agents").catch((error: Error) => error.message);
    writeFileSync(file, whole);
    expect(failure).toContain(`${join(cwd, ".perch/database")} is damaged`);
    expect(failure).toContain("`perch dev --reset` removes all of .perch/");
    expect(failure).not.toContain("node_modules");
  });

  test("--reset asks, and begins anew", { timeout: longMs }, async () => {
    const { key } = state();
    expect(await perch(["dev", "--reset"])).toMatchObject({ code: 1 });
    expect(state().key).toBe(key);
    rmSync(join(cwd, "agent.yaml"));
    await start("--reset", "--yes");
    expect(state().key).not.toBe(key);
    expect((await perch(["agents", "--json"])).json()).toMatchObject({ data: [] });
  });
});
