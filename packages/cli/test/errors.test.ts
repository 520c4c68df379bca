import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { PassThrough } from "node:stream";
import { PerchError, RunFailedError } from "@perch/sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { RunProblem } from "../src/problem.ts";
import { errorText, reportError } from "../src/report-error.ts";
import { createTerminal } from "../src/terminal.ts";
import { createShell } from "./shell.ts";

const run = "req_01h455vb4pex5vsknk084sn02q";
let server: Server;
let env: NodeJS.ProcessEnv;
const calls: string[] = [];
let agents: readonly string[] | undefined;

/** Knows some agents by name, and finds none of them. */
beforeAll(async () => {
  server = createServer((request, response) => {
    const path = request.url ?? "";
    calls.push(`${request.method} ${path}`);
    const isList = path.startsWith("/v1/agents?");
    const missing = /^\/v1\/agents\/([^/]+)/.exec(path)?.[1];
    const error = {
      code: "not_found",
      message: `There is no agent "${missing}" that this key can reach.`,
      details: [],
    };
    const pagination = { limit: 100, offset: 0, total: 1, has_more: false };
    const isFound = isList && agents !== undefined;
    const body = isFound
      ? { success: true, data: agents?.map((name) => ({ name })), pagination }
      : { success: false, error };
    response.writeHead(isFound ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  env = { PERCH_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, PERCH_API_KEY: "k" };
});
afterAll(() => void server.close());
beforeEach(() => {
  calls.length = 0;
  agents = ["billing", "support"];
});

describe("an agent that does not exist", () => {
  test.each([
    ["agents get", ["agents", "get", "suport"]],
    ["invoke", ["invoke", "suport", "Hello"]],
    ["logs", ["logs", "suport"]],
  ])("suggests the nearest name, and asks the server for it once: %s", async (_, args) => {
    const { code, stderr } = await createShell({ cwd: tmpdir(), env })(args);
    expect(code).toBe(1);
    expect(stderr).toBe(
      `There is no agent "suport" that this key can reach.
Did you mean support? \`perch agents\` lists what there is.
(404 from ${env.PERCH_URL}, environment)
`,
    );
    expect(calls.filter((call) => call === "GET /v1/agents?limit=100")).toHaveLength(1);
  });

  test("suggests nothing where no name is near, where agents may not be listed, and in JSON", async () => {
    const shell = createShell({ cwd: tmpdir(), env });
    expect((await shell(["logs", "zzz"])).stderr).not.toContain("Did you mean");
    agents = undefined;
    expect((await shell(["logs", "suport"])).stderr).not.toContain("Did you mean");
    calls.length = 0;
    expect(JSON.parse((await shell(["logs", "suport", "--json"])).stderr)).toMatchObject({
      error: { code: "not_found" },
    });
    expect(calls).toHaveLength(1);
  });
});

describe("wrong usage", () => {
  const stderrOf = async (...args: string[]) => (await createShell({ cwd: tmpdir(), env })(args)).stderr;

  test.each([
    [["deploy"], "help deploy"],
    [["deploy", "support", "--lable", "x"], "help deploy"],
    [["keys", "create"], "help keys create"],
    [["keys", "creat", "x"], "help keys"],
    [["logs", "support", "--since", "yesterday"], "help logs"],
  ])("%j names the help of its own command", async (args, help) => {
    expect(await stderrOf(...args)).toContain(`\n\`perch ${help}\` shows the usage.\n`);
  });

  test("names the general help where there is no such command", async () => {
    expect(await stderrOf("nonsense")).toContain("`perch --help` shows all commands");
  });

  test("--since names both forms of a time", async () => {
    for (const wrong of ["yesterday", "2026-31-01"])
      expect(await stderrOf("logs", "support", "--since", wrong)).toContain(
        "--since is how long ago, such as 30s, 15m, 2h or 7d, or a time such as 2026-01-31T12:00:00Z.\n",
      );
  });
});

describe("an error", () => {
  const named = { url: "https://perch.example.com", key: "k", source: "profile staging", reason: "" };
  const missing = { status: 404, code: "not_found" };
  const withList = (what: string) =>
    new PerchError({ ...missing, message: `There is no ${what} "x" that this key can reach.` });

  test("names the address that was called, where that came from, and the correlation id", () => {
    const error = new PerchError({ status: 409, code: "conflict", message: "No.", correlationId: "corr_1" });
    expect(errorText(error, { server: named })).toBe(
      "No.\n(409 from https://perch.example.com, profile staging; correlation id corr_1)",
    );
  });

  test.each([
    ["invocation", "There is no run", "`perch runs AGENT`"],
    ["deployment", "There is no deployment", "`perch deployments AGENT`"],
    ["webhook", "There is no webhook", "`perch webhooks`"],
    ["key", "There is no key", "`perch keys`"],
  ])("says which command lists what is missing: %s", (what, message, list) => {
    expect(errorText(withList(what))).toBe(`${message} "x" that this key can reach.\n${list} lists what there is.`);
  });

  test("puts the names of the command line into the command that lists what is missing", () => {
    const named = { agent: "support", webhook: "wh_1" };
    expect(errorText(withList("version"), { named })).toContain("`perch versions support` lists");
    expect(errorText(withList("delivery"), { named })).toContain("`perch webhooks deliveries wh_1` lists");
  });

  test.each([
    ["add a provider: POST /v1/providers.", "add a provider: perch providers add."],
    [
      "Create them: POST /v1/secrets, or POST /v1/agents/{agent_id}/secrets for one agent alone.",
      "Create them: perch secrets set, with --agent for one agent alone.",
    ],
    ['deploy it with "redeploy": true.', "deploy it with --redeploy."],
    ["It is rolled_back; see deployment.rolled_back.", "It is rolled back; see deployment.rolled_back."],
    ["Correct it (PATCH /v1/providers/acme).", "Correct it (perch api PATCH /v1/providers/acme)."],
  ])("speaks of commands where the API speaks of requests: %s", (message, shown) => {
    expect(errorText(new PerchError({ code: "conflict", message }))).toBe(shown);
  });

  test("names fields as the command line does, and those of a file as the file does", () => {
    const details = [
      { field: "context.session_id", error: "Too long" },
      { field: "overlap_seconds", error: "Too big" },
      { field: "limits.max_steps", error: "Too small" },
    ];
    const text = errorText(new PerchError({ code: "invalid_request", message: "No.", details }));
    expect(text).toContain("\n  session: Too long\n  overlap seconds: Too big\n  limits.max_steps: Too small\n");
  });

  test("asks whether perch dev still runs where its server does not answer", () => {
    const lost = new PerchError({ code: "connection_failed", message: "Perch could not be reached." });
    expect(errorText(lost, { server: { ...named, isDev: true } })).toContain("Does `perch dev` still run?");
    expect(errorText(lost, { server: named })).toContain("Is the server running?");
  });

  test("is broken between words at 80 columns of a terminal, and its commands are not broken", () => {
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 200 });
    const terminal = createTerminal({ stdin: new PassThrough(), stdout: new PassThrough(), stderr }, { NO_COLOR: "1" });
    const message = `The tool search answered 503 ${"again and ".repeat(12)}again.`;
    const failure = new RunFailedError({ status: 422, code: "run_failed", message, retryable: true });
    const problem = new RunProblem(
      { agent: "a-name-that-is-quite-long-for-an-agent", runId: run, idempotencyKey: "k" },
      failure,
    );
    expect(reportError(problem, terminal, { server: named })).toBe(1);
    const lines = String(stderr.read()).trimEnd().split("\n");
    const command = `  perch runs get a-name-that-is-quite-long-for-an-agent ${run}`;
    expect(lines).toContain(command);
    expect(lines.filter((line) => line.length > 80 && line !== command)).toEqual([]);
    expect(lines.join(" ")).toContain(message);
  });
});
