import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { generateTotpCode } from "@perch/testkit/identity/one-time-code.ts";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { enrolSecondFactor } from "../../server/test/support/authenticator.ts";
import { usePerch } from "../../server/test/support/harness.ts";
import { type Desk, newDesk, removeDesks } from "./using-perch.ts";

const tool = await startToolServer(({ body }) => ({ body: { did: JSON.parse(body) } }));
afterAll(() => tool.close());
const server = usePerch(
  { outboundAllowedPrivateRanges: ["127.0.0.0/8"], valkeyUrl: serviceUrl("PERCH_VALKEY_URL") },
  { withWorker: true },
);
removeDesks();

const main = join(import.meta.dirname, "../src/main.ts");
let desk: Desk;
/** A key that may decide, and one that may also start runs. */
let approver: string;
let both: string;

const callOf = (name: string, args: object) => ({ reply: "One moment.", tool_calls: [{ name, arguments: args }] });
const refund = (policy: object = {}) => ({
  type: "http" as const,
  name: "refund",
  description: "Pays money back.",
  method: "POST" as const,
  url: tool.url,
  parameters: { type: "object" as const, properties: { amount: { type: "number" } }, required: ["amount"] },
  approval: { when: [{ argument: "amount", op: "gt" as const, value: 100 }], ...policy },
});
const question = {
  type: "ask_person" as const,
  name: "ask_colour",
  description: "Asks for a colour.",
  answer: { type: "string", enum: ["red", "blue"] },
  invoker_may_decide: true,
};

async function createAgent(tools: object[], call = callOf("refund", { amount: 500 })): Promise<void> {
  const instructions = JSON.stringify({ steps: [call, { reply: "All done." }] });
  const body = { name: "bot", model: "perch/script", instructions, tools };
  const answer = await desk.organisation.call("POST /v1/agents", { body: body as never });
  expect(answer.status).toBe(201);
}

const createKey = (...permissions: string[]): Promise<string> => desk.organisation.createKey({ permissions });

beforeEach(async () => {
  tool.calls.splice(0);
  desk = await newDesk(server());
  approver = await createKey("read", "approve");
  both = await createKey("read", "write", "approve");
});

const asApprover = (...args: string[]) => desk.perch(args, { env: { PERCH_API_KEY: approver } });
const madeCalls = () => tool.calls.map(({ body }) => JSON.parse(body) as unknown);

/** Runs a command on a terminal, types each line when its prompt is there, and gives everything that the terminal showed. */
const terminalProgram = `
import os, pty, signal, sys
signal.alarm(60)
count = int(sys.argv[1])
script, command = sys.argv[2:2 + 2 * count], sys.argv[2 + 2 * count:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
shown, since = b"", 0
while True:
    try:
        chunk = os.read(terminal, 4096)
    except OSError:
        break
    if not chunk:
        break
    shown += chunk
    while script and script[0].encode() in shown[since:]:
        since = shown.index(script[0].encode(), since) + len(script[0].encode())
        os.write(terminal, script[1].encode())
        script = script[2:]
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

async function chat(key: string, ...typed: (readonly [prompt: string, text: string])[]) {
  const args = [String(typed.length), ...typed.flat(), process.execPath, main, "chat", "bot"];
  const child = spawn("python3", ["-c", terminalProgram, ...args], {
    cwd: desk.cwd,
    env: { PATH: process.env.PATH, ...desk.env, PERCH_API_KEY: key, NO_COLOR: "1", NODE_NO_WARNINGS: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [shown, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return { code: code as number, shown };
}

const ctrlU = "\u0015";

describe("perch chat on a terminal", () => {
  test("shows tool, arguments and why, asks, and goes on with the same run", async () => {
    await createAgent([refund({ invoker_may_decide: true })]);
    const { code, shown } = await chat(both, ["> ", "pay\r"], ["[n]o ", "y\r"], ["All done.", "\u0004"]);
    expect(code, shown).toBe(0);
    expect(shown).toContain("bot wants to call refund");
    expect(shown).toContain("`amount` is more than 100.");
    expect(shown).toContain('"amount": 500');
    expect(shown).toContain("approve? [y]es / [e]dit / [n]o");
    expect(madeCalls()).toEqual([{ amount: 500 }]);
    expect((await desk.perch(["runs", "bot", "--json"])).json<{ data: unknown[] }>().data).toHaveLength(1);
  });

  test("takes edited arguments, asks again for ones that do not fit, and passes on why a call is rejected", async () => {
    await createAgent([refund({ invoker_may_decide: true })]);
    const edited = await chat(
      both,
      ["> ", "pay\r"],
      ["[n]o ", "e\r"],
      ["arguments: ", `${ctrlU}{"amount": "many"}\r`],
      ["[n]o ", "e\r"],
      ["arguments: ", `${ctrlU}{"amount": 80}\r`],
      ["All done.", "\u0004"],
    );
    expect(edited.code, edited.shown).toBe(0);
    expect(madeCalls()).toEqual([{ amount: 80 }]);
    const rejected = await chat(
      both,
      ["> ", "pay\r"],
      ["[n]o ", "n\r"],
      ["empty: none): ", "Not on a Sunday.\r"],
      ["All done.", "\u0004"],
    );
    expect(rejected.code, rejected.shown).toBe(0);
    expect(madeCalls()).toHaveLength(1);
    const { data } = (await asApprover("approvals", "--status", "rejected", "--json")).json<{
      data: { id: string }[];
    }>();
    expect((await asApprover("approvals", "show", data[0]?.id ?? "")).stdout).toContain("Not on a Sunday.");
  });

  test("asks the questions of an agent", async () => {
    await createAgent([question], callOf("ask_colour", { question: "Which colour?" }));
    const { code, shown } = await chat(
      both,
      ["> ", "paint\r"],
      ["answer (red, blue): ", "blue\r"],
      ["All done.", "\u0004"],
    );
    expect(code, shown).toBe(0);
    expect(shown).toContain("Which colour?");
  });

  test("stops asking a key that has no second factor, and shows who else can decide", async () => {
    await createAgent([refund({ invoker_may_decide: true, second_factor: true })]);
    const { code, shown } = await chat(
      both,
      ["> ", "pay\r"],
      ["[n]o ", "y\r"],
      ["second factor: ", "123456\r"],
      ["Somebody else can decide:", "\u0003"],
    );
    expect(code, shown).not.toBe(0);
    expect(shown).toContain("this key has none");
    expect(shown).toMatch(/perch approvals approve appr_\w+ --code CODE/);
    expect(madeCalls()).toEqual([]);
  });

  test("asks again after a wrong code", async () => {
    await createAgent([refund({ invoker_may_decide: true, second_factor: true })]);
    const { secret } = await enrolSecondFactor(desk.organisation, both);
    const { code, shown } = await chat(
      both,
      ["> ", "pay\r"],
      ["[n]o ", "y\r"],
      ["second factor: ", "000000\r"],
      ["This code is wrong", ""],
      ["[n]o ", "y\r"],
      ["second factor: ", `${generateTotpCode(secret)}\r`],
      ["All done.", "\u0004"],
    );
    expect(code, shown).toBe(0);
    expect(madeCalls()).toEqual([{ amount: 500 }]);
  });

  test("does not ask the key that started the run, which may not decide", async () => {
    await createAgent([refund()]);
    const { shown } = await chat(both, ["> ", "pay\r"], ["Somebody else can decide:", "\u0003"]);
    expect(shown).toContain("This key started the run, so it may not decide.");
    expect(shown).not.toContain("[n]o");
  });

  test("waits, and shows that it does, while only another approver may decide", async () => {
    await createAgent([refund()]);
    const talking = chat(desk.organisation.adminKey, ["> ", "pay\r"], ["All done.", "\u0004"]);
    const open = async () => (await asApprover("approvals", "--json")).json<{ data: { id: string }[] }>().data;
    await expect.poll(open, { timeout: 20_000 }).toHaveLength(1);
    const [approval] = await open();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect((await asApprover("approvals", "approve", approval?.id ?? "", "--yes")).code).toBe(0);
    const { code, shown } = await talking;
    expect(code, shown).toBe(0);
    expect(shown).toContain(`approvals approve ${approval?.id}`);
    expect(shown).toContain("waiting for a person to decide about refund");
    expect(madeCalls()).toEqual([{ amount: 500 }]);
  });
});

describe("without a terminal", () => {
  test("chat and invoke do not ask: they show the open decision, and end with the exit code 3", async () => {
    await createAgent([refund()]);
    for (const outcome of [
      await desk.perch(["chat", "bot"], { input: "pay\nmore\n" }),
      await desk.perch(["invoke", "bot", "pay"]),
    ]) {
      expect(outcome.code, outcome.stderr).toBe(3);
      expect(outcome.stderr).toMatch(/perch approvals show appr_\w+/);
      expect(outcome.stderr).toMatch(/perch runs follow bot req_\w+ --wait/);
    }
    const json = await desk.perch(["invoke", "bot", "pay", "--json"]);
    expect(json.code).toBe(3);
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: { code: "action_required", request_id: expect.stringMatching(/^req_/) },
    });
  });

  test("runs follow --wait waits for the decision, and runs show that they wait", async () => {
    await createAgent([refund()]);
    const { stdout } = await desk.perch(["invoke", "bot", "pay", "--async"]);
    const run = stdout.trim();
    const waiting = async () => (await desk.perch(["runs", "--status", "waiting"])).stdout;
    await expect.poll(waiting, { timeout: 20_000 }).toContain(run);
    expect((await desk.perch(["runs", "get", "bot", run])).stderr).toMatch(/perch approvals show appr_/);
    const following = desk.perch(["runs", "follow", "bot", run, "--wait"]);
    const { data } = (await asApprover("approvals", "--json")).json<{ data: { id: string }[] }>();
    await asApprover("approvals", "reject", data[0]?.id ?? "", "--reason", "No.");
    const { code, stdout: response, stderr } = await following;
    expect(code, stderr).toBe(0);
    expect(response).toContain("All done.");
    expect(madeCalls()).toEqual([]);
  });
});

describe("perch approvals", () => {
  test("lists open approvals, shows one, and approves exactly that call with other arguments from a file", async () => {
    await createAgent([refund()]);
    expect((await asApprover("approvals")).stderr).toContain("No open approvals yet.");
    await desk.perch(["invoke", "bot", "pay", "--user", "ada"]);
    const listed = await asApprover("approvals", "--agent", "bot", "--tool", "refund", "--user", "ada");
    const [id = ""] = /appr_\w+/.exec(listed.stdout) ?? [];
    expect(listed.stdout).toContain("`amount` is more than 100.");
    const shown = await asApprover("approvals", "show", id);
    for (const part of ["bot wants to call refund", '"amount": 500', "user ada", "message    pay"])
      expect(shown.stdout).toContain(part);
    expect(shown.stderr).toContain(`perch approvals approve ${id}`);
    expect((await desk.perch(["approvals", "show", id])).stdout).toContain("hidden");
    expect((await asApprover("approvals", "approve", id)).stderr).toContain("Give --yes");
    expect((await asApprover("approvals", "approve", id, "--digest", "another")).code).toBe(1);
    writeFileSync(join(desk.cwd, "args.json"), '{"amount": 80}');
    const approved = await asApprover("approvals", "approve", id, "--arguments", "@args.json", "--yes");
    expect({ code: approved.code, last: approved.stdout.trim().split("\n").at(-1) }).toEqual({
      code: 0,
      last: `${id} is approved.`,
    });
    await expect.poll(madeCalls).toEqual([{ amount: 80 }]);
  });

  test("refuses the key that started the run, and reports that two must approve", async () => {
    await createAgent([refund({ approvers: 2 })]);
    const own = { env: { PERCH_API_KEY: both } };
    await desk.perch(["invoke", "bot", "pay"], own);
    const [id = ""] = /appr_\w+/.exec((await asApprover("approvals")).stdout) ?? [];
    expect((await desk.perch(["approvals", "show", id], own)).stderr).toContain("so another approver decides:");
    expect((await asApprover("approvals", "show", id)).stderr).toContain("To decide:");
    const refused = await desk.perch(["approvals", "approve", id, "--yes"], own);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("Ask somebody else, or use another key with the permission approve.");
    const reader = await desk.perch(["approvals", "reject", id]);
    expect(reader.stderr).toContain("perch keys create NAME --permission read --permission approve");
    expect((await asApprover("approvals", "approve", id, "--yes")).stdout).toContain("1 of 2 have approved");
    const second = { env: { PERCH_API_KEY: await createKey("read", "approve") } };
    expect((await desk.perch(["approvals", "approve", id, "--yes"], second)).stdout).toContain(`${id} is approved.`);
  });

  test("shows the option for the code of a second factor if one is needed, and asks for it", async () => {
    await createAgent([refund({ second_factor: true })]);
    await desk.perch(["invoke", "bot", "pay"]);
    const [id = ""] = /appr_\w+/.exec((await asApprover("approvals")).stdout) ?? [];
    expect((await asApprover("approvals", "show", id)).stderr).toContain(`perch approvals approve ${id} --code CODE`);
    const withoutFactor = await asApprover("approvals", "reject", id);
    expect(withoutFactor.stderr).toContain("perch keys begin-mfa KEY");
    expect(withoutFactor.stderr).not.toContain("--role ROLE");
    await enrolSecondFactor(desk.organisation, approver);
    const withoutCode = await asApprover("approvals", "reject", id);
    expect(withoutCode.stderr).toContain("This needs a second factor: give a code with --code.");
    const withWrongCode = await asApprover("approvals", "reject", id, "--code", "000000");
    for (const { stderr } of [withoutCode, withWrongCode])
      expect(stderr).toContain("Run the command again with --code CODE.");
  });

  test("names the right commands if the user approves a question or answers a call", async () => {
    await createAgent([refund()]);
    await desk.perch(["invoke", "bot", "pay"]);
    const [id = ""] = /appr_\w+/.exec((await asApprover("approvals")).stdout) ?? [];
    expect((await asApprover("approvals", "answer", id, "blue")).stderr).toContain(
      `Decide with \`perch approvals approve ${id}\` or \`perch approvals reject ${id}\`.`,
    );
  });

  test("control characters in text of others do not reach the terminal", async () => {
    await createAgent([question], callOf("ask_colour", { question: "Which\u001b[2J\u0007 colour?" }));
    await desk.perch(["invoke", "bot", "pa\u001b]0;title\u0007int"]);
    const [id = ""] = /appr_\w+/.exec((await asApprover("approvals")).stdout) ?? [];
    const { stdout } = await asApprover("approvals", "show", id);
    expect(stdout).toContain("Which colour?");
    expect(stdout).toContain("paint");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
    expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/);
    expect((await asApprover("approvals", "answer", id, "blue")).stdout).toContain(`${id} is answered.`);
  });
});
