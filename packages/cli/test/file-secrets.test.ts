import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { secretNamesIn } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test, vi } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { sourceOf } from "../src/agent-file/agent-sources.ts";
import { requireAgents } from "../src/agent-file/read-agent-file.ts";
import { hostOf, originOf, secretReferencesOf } from "../src/agent-file/secret-references.ts";
import { createShell, type Outcome, withoutAccidents } from "./shell.ts";
import { type Desk, newDesk, removeDesks } from "./using-perch.ts";

const server = usePerch();
removeDesks();

const value = "s3cret-of-environment";
const stored = "s3cret-of-env-file";

const agentFile = (secrets: string, url = "https://api.github.com/issues") => `name: bot
model: perch/echo
tools:
  - type: http
    name: issues
    description: Lists issues.
    method: GET
    url: ${url}
    headers:
      Authorization: Bearer {{secret.github_token}}
    parameters: { type: object }
${secrets}`;
const declared = "secrets:\n  github_token:\n    hosts: [api.github.com]\n";

/** The bodies that were sent to routes of secrets, and in which order they and those of agents came. */
function recordRequests() {
  const spy = vi.spyOn(globalThis, "fetch");
  const calls = () =>
    (spy.mock.calls as [unknown, RequestInit?][]).flatMap(([address, { method = "GET", body } = {}]) =>
      method === "GET" || String(address).endsWith("/check")
        ? []
        : [{ route: `${method} ${new URL(String(address)).pathname}`, body: String(body) }],
    );
  return {
    routes: () => calls().map(({ route }) => route),
    values: () => calls().flatMap(({ body }) => (JSON.parse(body) as { value?: string }).value ?? []),
    stop: () => spy.mockRestore(),
  };
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((file) => statSync(file).isFile());
}

/** The value is in no output, and in no file but those that the user wrote it into. */
function expectNoValue({ cwd }: Desk, outcomes: readonly Outcome[]): void {
  for (const { stdout, stderr } of outcomes) expect(stdout + stderr).not.toMatch(/s3cret/);
  const files = filesBelow(cwd);
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => readFileSync(file).includes("s3cret") && !file.endsWith("/.env"))).toEqual([]);
}

async function deskWith(file: string, env: NodeJS.ProcessEnv = {}) {
  const desk = await newDesk(server());
  writeFileSync(join(desk.cwd, "agent.yaml"), file);
  const shell = createShell({ cwd: desk.cwd, env: { ...desk.env, ...env } });
  // Whether the tool can be reached is a matter of this machine's network.
  const run = async (...given: Parameters<typeof shell>) => {
    const outcome = await shell(...given);
    return {
      ...outcome,
      stderr: outcome.stderr.replaceAll(
        /^(checking the |warning: .* (does not answer\.|could not be reached)).*\n/gm,
        "",
      ),
    };
  };
  return { desk, run };
}

const hostsOf = async ({ perch }: Desk): Promise<Record<string, string[]>> => {
  const { json } = await perch(["secrets", "--agent", "bot", "--json"]);
  return Object.fromEntries(
    json<{ data: { name: string; hosts: string[] }[] }>().data.map((one) => [one.name, one.hosts]),
  );
};

describe("secrets of agent.yaml", () => {
  test("are set from the environment: after a new agent, before the change of one that exists", async () => {
    verifies("secrets.agent-file");
    const { desk, run } = await deskWith(agentFile(declared), { GITHUB_TOKEN: value });
    const { routes, values, stop } = recordRequests();
    const created = await run(["apply", "--yes"]);
    expect([created.code, created.stdout, created.stderr]).toMatchSnapshot();
    expect(routes()[0]).toBe("POST /v1/agents");
    expect(routes().at(-1)).toBe("POST /v1/agents/bot/secrets");
    expect(await hostsOf(desk)).toEqual({ github_token: ["api.github.com"] });

    writeFileSync(join(desk.cwd, "agent.yaml"), `${agentFile(declared)}temperature: 0.5\n`);
    const updated = await run(["apply", "--yes"]);
    expect([updated.code, updated.stdout, updated.stderr]).toMatchSnapshot();
    expect(routes().slice(-2)).toEqual(["PATCH /v1/agents/bot/secrets/github_token", "PATCH /v1/agents/bot"]);
    expect(new Set(values())).toEqual(new Set([value]));
    stop();
    expectNoValue(desk, [created, updated]);
  });

  test("come from .env beside the file if the environment has none; the environment wins", async () => {
    const { desk, run } = await deskWith(agentFile(declared));
    writeFileSync(join(desk.cwd, ".env"), `# keys\nGITHUB_TOKEN="${stored}"\nOTHER=x\n`);
    const { values, stop } = recordRequests();
    const fromFile = await run(["apply", "--yes"]);
    expect(fromFile.stdout).toContain("secret github_token: set from GITHUB_TOKEN of .env, for api.github.com");
    expect(values().at(-1)).toBe(stored);
    const both = await run(["apply", "--yes"], { env: { GITHUB_TOKEN: value } });
    expect(both.stdout).toContain("set again from GITHUB_TOKEN of the environment");
    expect(values().at(-1)).toBe(value);
    const emptied = await run(["apply", "--yes"], { env: { GITHUB_TOKEN: "" } });
    expect(emptied.stdout).toContain("of .env");
    stop();
    expectNoValue(desk, [fromFile, both, emptied]);
  });

  test("are asked about before anything of the environment is sent, and --dry-run sends nothing", async () => {
    const { desk, run } = await deskWith(agentFile(declared), { GITHUB_TOKEN: value });
    const { routes, stop } = recordRequests();
    const dry = await run(["apply", "--dry-run"]);
    expect([dry.code, dry.stdout.includes("set from GITHUB_TOKEN of the environment")]).toEqual([0, true]);
    const dryJson = await run(["apply", "--dry-run", "--json"]);
    const secret = { name: "github_token", variable: "GITHUB_TOKEN", source: "environment", outcome: "created" };
    expect(dryJson.json()).toMatchObject({ applied: false, agents: [{ secrets: [secret], warnings: [] }] });
    const asked = await run(["apply"]);
    expect([asked.code, asked.stderr.includes("Give --yes")]).toEqual([1, true]);
    expect(routes()).toEqual([]);
    const json = await run(["apply", "--yes", "--json"]);
    expect(json.json()).toMatchObject({ applied: true, agents: [{ secrets: [secret] }] });
    stop();
    expectNoValue(desk, [dry, dryJson, asked, json]);
  });

  test("whose variable is not set are named with the variable, and the rest is applied", async () => {
    const { desk, run } = await deskWith(agentFile(`${declared}    env: GH_TOKEN\n`), { GITHUB_TOKEN: value });
    const missing = await run(["apply"]);
    expect([missing.code, missing.stdout, missing.stderr]).toMatchSnapshot();
    expect(await hostsOf(desk)).toEqual({});
    expect((await run(["apply", "--dry-run", "--json"])).json()).toMatchObject({
      agents: [{ outcome: "unchanged", secrets: [{ outcome: "missing", variable: "GH_TOKEN", source: null }] }],
    });
    expect((await run(["apply", "--yes"], { env: { GH_TOKEN: value } })).code).toBe(0);
    expect((await run(["apply"])).stdout).toBe("bot: no change\n");
  });

  test("lose hosts without their value, and gain none", async () => {
    const hosts = (list: string) => agentFile(declared.replace("[api.github.com]", list));
    const { desk, run } = await deskWith(hosts("[api.github.com, old.example]"));
    await run(["apply", "--yes"], { env: { GITHUB_TOKEN: value } });
    writeFileSync(join(desk.cwd, "agent.yaml"), hosts("[api.github.com]"));
    const fewer = await run(["apply", "--yes"]);
    expect(fewer.stdout).toContain("secret github_token: for api.github.com only");
    expect(await hostsOf(desk)).toEqual({ github_token: ["api.github.com"] });
    writeFileSync(join(desk.cwd, "agent.yaml"), hosts("[api.github.com, new.example]"));
    const more = await run(["apply", "--yes"]);
    expect([more.code, more.stderr]).toMatchSnapshot();
    expect(await hostsOf(desk)).toEqual({ github_token: ["api.github.com"] });
    await run(["apply", "--yes"], { env: { GITHUB_TOKEN: value } });
    expect(await hostsOf(desk)).toEqual({ github_token: ["api.github.com", "new.example"] });
  });

  test("stay when the file no longer names them", async () => {
    const { desk, run } = await deskWith(agentFile(declared));
    await run(["apply", "--yes"], { env: { GITHUB_TOKEN: value } });
    writeFileSync(join(desk.cwd, "agent.yaml"), agentFile(""));
    expect((await run(["apply"])).stdout).toBe("bot: no change\n");
    expect(Object.keys(await hostsOf(desk))).toEqual(["github_token"]);
  });

  test("with a value that the server refuses are refused by the variable's name, not by its value", async () => {
    const { desk, run } = await deskWith(agentFile(declared), { GITHUB_TOKEN: "s3cret" });
    const refused = await run(["apply", "--yes"]);
    expect([refused.code, refused.stderr.includes("agent.yaml:14: the value of GITHUB_TOKEN: ")]).toEqual([1, true]);
    expectNoValue(desk, [refused]);
  });

  test("need a key that may manage if they are to be set; without a value, writing is enough", async () => {
    const { desk, run } = await deskWith(agentFile(declared));
    await run(["apply", "--yes"], { env: { GITHUB_TOKEN: value } });
    const env = { PERCH_API_KEY: await desk.organisation.createKey({ role: "developer" }) };
    writeFileSync(join(desk.cwd, "agent.yaml"), `${agentFile(declared)}temperature: 0.5\n`);
    const refused = await run(["apply", "--yes"], { env: { ...env, GITHUB_TOKEN: value } });
    expect([refused.code, withoutAccidents(refused.stderr)]).toMatchSnapshot();
    expect((await run(["agents", "get", "bot", "--json"])).json()).toMatchObject({ temperature: null });
    expect((await run(["apply", "--yes"], { env })).stdout).toContain("bot updated.");
    expectNoValue(desk, [refused]);
  });
});

describe("references of a definition", () => {
  test("to a secret that exists neither for the agent nor for the organisation are named, with the command", async () => {
    const { desk, run } = await deskWith(agentFile(""));
    const missing = await run(["apply"]);
    expect([missing.code, missing.stderr]).toMatchSnapshot();
    await desk.perch(["secrets", "set", "github_token", "--host", "api.github.com"], { input: value });
    expect(await run(["apply"])).toMatchObject({ code: 0, stderr: "" });
  });

  test("to a secret whose hosts do not fit are named, with both", async () => {
    const { desk, run } = await deskWith(agentFile("", "https://api.github.com:8443/issues"));
    await desk.perch(["secrets", "set", "github_token", "--host", "api.github.com"], { input: value });
    const wrong = await run(["apply"]);
    expect([wrong.code, wrong.stderr]).toMatchSnapshot();
    await desk.perch(["secrets", "set", "github_token", "--agent", "bot", "--host", "api.github.com:8443"], {
      input: value,
    });
    expect(await run(["apply"])).toMatchObject({ code: 0, stderr: "" });
  });

  test("the client secret of a tool's account is found too; only the authorization server knows its address", () => {
    const connection = { account: "agent", client_id: "bot", client_secret: "{{secret.client}}" };
    const url = "https://tools.example/mcp";
    const issuer = "https://login.example";
    const place = { name: "client", path: "tools.0.connection.client_secret", isGuessed: true };
    expect(secretReferencesOf({ tools: [{ url, connection: { ...connection, issuer } }] })).toEqual([
      { ...place, url: issuer },
    ]);
    expect(secretReferencesOf({ tools: [{ url, connection }] })).toEqual([{ ...place, url }]);
    expect(secretReferencesOf({ tools: [{ url, connection: { account: "user" } }] })).toEqual([]);
  });

  test("are not checked with a key that may not list the organisation's secrets, and the command reports that", async () => {
    const { desk, run } = await deskWith(agentFile(""));
    await run(["apply"]);
    const { json } = await desk.perch(["agents", "get", "bot", "--json"]);
    const key = await desk.organisation.createKey({ role: "developer", agent_id: json<{ id: string }>().id });
    const unchecked = await run(["apply"], { env: { PERCH_API_KEY: key } });
    expect([unchecked.code, unchecked.stderr]).toMatchSnapshot();
  });

  test("an agent without any asks nothing about secrets", async () => {
    const { run } = await deskWith("name: bot\nmodel: perch/echo\n");
    const spy = vi.spyOn(globalThis, "fetch");
    await run(["apply"]);
    await run(["apply"]);
    expect(spy.mock.calls.filter(([address]) => String(address).includes("secrets"))).toEqual([]);
    expect(spy.mock.calls.length).toBeGreaterThan(2);
    spy.mockRestore();
  });

  test.each([
    "{{secret.a}} {{secret.b_2}}",
    "{{secret.A}}",
    "{{ secret.a }}",
    "{secret.a}",
    "x{{secret.a}}{{secret.a}}",
  ])("%j: the same are found as by the server", (text) => {
    const tools = [{ url: "https://a.example", headers: { a: text } }];
    const found = secretReferencesOf({ tools }).map(({ name }) => name);
    expect([...new Set(found)]).toEqual(secretNamesIn(text));
  });

  test("hosts stand for origins", () => {
    expect(originOf("api.github.com")).toBe("https://api.github.com");
    expect(originOf("tools.example:8443")).toBe("https://tools.example:8443");
    expect(originOf("http://127.0.0.1:3000")).toBe("http://127.0.0.1:3000");
    expect(hostOf("https://tools.example:8443/x?y")).toBe("tools.example:8443");
    expect(hostOf("http://127.0.0.1:3000/x")).toBe("http://127.0.0.1:3000");
  });
});

describe("a file that is wrong about secrets is refused with its line, and nothing of it is repeated", () => {
  const fileWith = (text: string): string => {
    const file = join(mkdtempSync(join(tmpdir(), "perch-file-")), "agent.yaml");
    writeFileSync(file, `name: bot\nmodel: perch/echo\n${text}`);
    return file;
  };
  test.each([
    ["secrets: s3cret\n", "agent.yaml:3: secrets is a map"],
    ["secrets:\n  token: s3cret\n", "agent.yaml:4: the secret token has hosts"],
    ["secrets:\n  token:\n    hosts: [a.example]\n    value: s3cret\n", "Its value does not belong in this file"],
    ["secrets:\n  token: {}\n", "agent.yaml:4: the secret token needs a list of hosts"],
    ["secrets:\n  token:\n    hosts: a.example\n", "needs a list of hosts"],
    [
      "secrets:\n  token:\n    hosts: [a.example]\n    env: ghp_s3cret\n",
      "name of a variable in capitals, such as TOKEN",
    ],
    ["secrets:\n  token:\n    hosts: [a.example]\n    env: PERCH_API_KEY\n", "Perch's own keys"],
    ["secrets:\n  Token=s3cret:\n    hosts: [a.example]\n", "this is not a secret's name"],
    [
      "runtime:\n  type: http\n  url: https://a.example\n  headers:\n    X-Key: {{secret.s3cret}}\n",
      "agent.yaml:7: runtime.headers.X-Key is not text",
    ],
  ])("%j", (text, reason) => {
    let message = "";
    try {
      requireAgents([sourceOf(fileWith(text))]);
    } catch (error) {
      const { message: said, hint } = error as Error & { hint?: string };
      message = `${said}\n${hint}`;
    }
    expect(message).toContain(reason);
    expect(message).not.toContain("s3cret");
  });
});
