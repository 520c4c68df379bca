import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConnectionError, PerchError, RunFailedError, StillRunningError } from "@perch/sdk";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterEach, describe, expect, test } from "vitest";
import { RunProblem } from "../src/problem.ts";
import { errorText } from "../src/report-error.ts";
import { createShell } from "./shell.ts";

const run = "req_01h455vb4pex5vsknk084sn02q";
const main = join(import.meta.dirname, "../src/main.ts");
const open: (Server | ChildProcess)[] = [];

afterEach(() => {
  for (const one of open.splice(0)) {
    if ("kill" in one) one.kill("SIGKILL");
    else {
      one.closeAllConnections();
      one.close();
    }
  }
});

/** A server that speaks as Perch does, for events that a real one produces too seldom. */
async function fakeApi(answer: (response: ServerResponse, request: IncomingMessage) => void) {
  const server = createServer((request, response) => answer(response, request));
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { PERCH_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, PERCH_API_KEY: "perch_test" };
}

const event = (name: string, data: unknown) => `id: 1-0\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
function stream(response: ServerResponse, ...events: string[]): void {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    location: `/v1/agents/bot/invocations/${run}`,
  });
  response.write(events.join(""));
}
const started = event("step", { step: 1, kind: "model", name: "perch/echo", attempt: 1, status: "started" });
const goesOn = `The run ${run} goes on. To wait for its response, to see what it does, or to stop it:
  perch runs follow bot ${run}
  perch runs get bot ${run}
  perch runs cancel bot ${run}`;
const showsIt = `The steps of the run ${run} show what happened:
  perch runs get bot ${run}`;

describe("a run that fails", () => {
  const failed = { code: "run_failed", message: "The model is unknown.", retryable: false, request_id: run };

  test("is named, with the command that shows it, and ends with 1", async () => {
    verifies("cli.failed-run-named");
    const env = await fakeApi((response) => stream(response, started, event("error", failed)));
    const perch = createShell({ cwd: tmpdir(), env });
    const next = `A new run would fail in the same way: change the agent, or what it calls, first.
(422 from ${env.PERCH_URL}, environment)
${showsIt}
`;
    for (const args of [
      ["invoke", "bot", "Hello"],
      ["runs", "follow", "bot", run],
    ]) {
      const { code, stdout, stderr } = await perch(args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toBe(`The model is unknown.\n${next}`);
    }
    const { stderr } = await perch(["invoke", "bot", "Hello", "--json"]);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "run_failed", retryable: false, request_id: run } });
  });

  test("is named in a chat, which goes on", async () => {
    const env = await fakeApi((response, { method }) => {
      if (method === "POST") return stream(response, event("error", failed));
      response.writeHead(200, { "content-type": "application/json" }).end('{"success":true,"data":{}}');
    });
    const { code, stderr } = await createShell({ cwd: tmpdir(), env })(["chat", "bot"], { input: "One\nTwo\n" });
    expect(code).toBe(0);
    expect(stderr.split(showsIt)).toHaveLength(3);
  });

  test.each([
    [true, "A new run may succeed"],
    [false, "A new run would fail in the same way"],
  ])("shows whether another try can help: %s", (retryable, text) => {
    verifies("cli.failed-run-named");
    const details = [{ field: "request_id", error: run }];
    const failure = new RunFailedError({ status: 422, code: "run_failed", message: "It failed.", retryable, details });
    const shown = errorText(new RunProblem({ agent: "bot", runId: undefined, idempotencyKey: "k" }, failure));
    expect(shown).toContain(text);
    expect(shown).toContain(showsIt);
    expect(shown).not.toContain("whoever runs the server");
  });
});

describe("a command that loses sight of a run", () => {
  const details = [{ field: "request_id", error: run }];
  const unnamed = { agent: "bot", runId: undefined, idempotencyKey: "k-1" };

  test("shows that the run goes on, and how to follow and to cancel it", () => {
    verifies("cli.failed-run-named");
    const still = new StillRunningError({ status: 504, code: "still_running", message: "It is not over.", details });
    expect(errorText(new RunProblem(unnamed, still))).toBe(`It is not over.\n${goesOn}`);
    const lost = new ConnectionError({ code: "connection_failed", message: "Perch could not be reached." });
    expect(errorText(new RunProblem({ ...unnamed, runId: run }, lost))).toContain(goesOn);
  });

  test("shows how to ask again without a second run, if it does not know whether it was accepted", () => {
    const lost = new ConnectionError({ code: "connection_failed", message: "Perch could not be reached." });
    expect(errorText(new RunProblem(unnamed, lost))).toContain("  --idempotency-key k-1");
  });

  test("mentions no run if the request was refused", () => {
    const refused = new PerchError({ status: 404, code: "not_found", message: "There is no agent." });
    expect(errorText(new RunProblem(unnamed, refused))).toBe("There is no agent.");
  });

  test("the operator is named only for a failure of the server", () => {
    const failure = { status: 500, code: "server_error", message: "Something failed.", correlationId: "corr_1" };
    expect(errorText(new PerchError(failure))).toContain("Give the correlation id to whoever runs the server.");
  });
});

describe("ctrl-c while a run is under way", () => {
  test.each([
    ["SIGINT", 130, ["invoke", "bot", "Hello"]],
    ["SIGTERM", 143, ["runs", "follow", "bot", run]],
  ] as const)("%s shows that it goes on and how to cancel it, and ends with %i", async (signal, code, args) => {
    verifies("cli.interrupt-names-run");
    const env = await fakeApi((response) => stream(response, started));
    const child = spawn(process.execPath, [main, ...args], {
      cwd: tmpdir(),
      env: { ...process.env, ...env, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    open.push(child);
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => {
      const wasWaiting = stderr.includes("waiting for perch/echo");
      stderr += chunk.toString();
      if (!wasWaiting && stderr.includes("waiting for perch/echo")) child.kill(signal);
    });
    const ended = await new Promise((resolve) => child.once("close", resolve));
    expect(ended).toBe(code);
    expect(stderr).toContain(goesOn);
  });
});
