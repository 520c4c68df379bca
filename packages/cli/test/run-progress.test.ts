import { PassThrough } from "node:stream";
import type { RunStreamEvent } from "@perch/sdk";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { printRun } from "../src/output/print-run.ts";
import { createTerminal } from "../src/terminal.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const result = { response: "Done.", request_id: "req_1", tokens_used: 2, duration_ms: 5 };
const done: RunStreamEvent = { type: "done", ...result };
const model = { type: "step", step: 1, kind: "model", name: "openai/gpt-5" } as const;
const lookup = { type: "tool", step: 1, call: 1, name: "lookup" } as const;

/** A run that sends each event after its wait. */
function runOf(timeline: readonly (readonly [afterMs: number, event: RunStreamEvent])[], acceptedAfterMs = 0) {
  const acceptedAtMs = Date.now() + acceptedAfterMs;
  return {
    get runId() {
      return Date.now() >= acceptedAtMs ? "req_1" : undefined;
    },
    async *[Symbol.asyncIterator]() {
      for (const [afterMs, event] of timeline) {
        await new Promise((resolve) => setTimeout(resolve, afterMs));
        yield event;
      }
    },
  };
}

function screen(isTTY: boolean) {
  const streams = {
    stdin: Object.assign(new PassThrough(), { isTTY }),
    stdout: Object.assign(new PassThrough(), { isTTY }),
    stderr: Object.assign(new PassThrough(), { isTTY, columns: 200 }),
  };
  const written: { readonly atMs: number; readonly text: string }[] = [];
  const startMs = Date.now();
  streams.stderr.on("data", (chunk: Buffer) => written.push({ atMs: Date.now() - startMs, text: chunk.toString() }));
  const terminal = createTerminal(streams, { NO_COLOR: "1" });
  const stderr = () => written.map(({ text }) => text).join("");
  return { terminal, written, stderr, stdout: () => String(streams.stdout.read() ?? "") };
}

async function print(run: ReturnType<typeof runOf>, { isTTY = false, session }: { isTTY?: boolean; session?: string }) {
  const shown = screen(isTTY);
  const printed = printRun(shown.terminal, run, { session });
  await vi.runAllTimersAsync();
  await printed;
  return shown;
}

describe("a run that is printed to an output that cannot be redrawn", () => {
  test("is never silent for more than two seconds, and shows what it waits for", async () => {
    verifies("cli.never-silent");
    const timeline: [number, RunStreamEvent][] = [
      [7000, { ...model, attempt: 1, status: "started" }],
      [9000, { ...model, attempt: 1, status: "completed" }],
      [100, done],
    ];
    const { written, stderr, stdout } = await print(runOf(timeline, 2500), { session: "ada-1" });
    const times = [0, ...written.map(({ atMs }) => atMs)];
    for (const [i, atMs] of times.entries()) expect(atMs - (times[i - 1] ?? 0)).toBeLessThanOrEqual(2000);
    expect(times.at(-1)).toBeGreaterThan(14_000);
    expect(stderr()).toContain("waiting for Perch to accept the run (2 s)\n");
    expect(stderr()).toContain("waiting for a worker, or for an earlier run of session ada-1 (4 s)\n");
    expect(stderr()).toContain("waiting for openai/gpt-5 (3 s)\n");
    expect(stdout()).toBe("Done.\n");
  });

  test("shows why an attempt failed, when the next one comes, and that a worker was lost", async () => {
    const refused = "connect ECONNREFUSED 127.0.0.1:9";
    const { stderr } = await print(
      runOf([
        [10, { ...model, attempt: 1, status: "started" }],
        [10, { ...model, attempt: 1, status: "retried", reason: refused, retry_after_ms: 3500 }],
        [3500, { ...model, attempt: 2, status: "started" }],
        [2500, { ...model, attempt: 2, status: "completed", tokens: 9 }],
        [10, { ...lookup, attempt: 1, status: "started", arguments: {} }],
        [10, { ...lookup, attempt: 1, status: "interrupted" }],
        [10, { ...lookup, attempt: 2, status: "failed", reason: "It answered 404." }],
        [10, done],
      ]),
      {},
    );
    expect(stderr().split("\n")).toEqual([
      `[openai/gpt-5 attempt 1 failed: ${refused}; attempt 2 in 4 s]`,
      `waiting for openai/gpt-5, attempt 2 in 2 s: ${refused} (2 s)`,
      "waiting for openai/gpt-5, attempt 2 (0.5 s)",
      "waiting for openai/gpt-5, attempt 2 (2 s)",
      "[lookup started]",
      "[lookup interrupted: its worker was lost, or it failed in the server; it begins again]",
      "[lookup failed: It answered 404]",
      "",
    ]);
  });

  test("of which all goes well and quickly adds nothing", async () => {
    const { stderr, stdout } = await print(
      runOf([
        [10, { ...model, attempt: 1, status: "started" }],
        [10, { type: "token", step: 1, offset: 0, text: "Done.", snapshot: "Done." }],
        [10, { ...model, attempt: 1, status: "completed" }],
        [10, done],
      ]),
      {},
    );
    expect({ stderr: stderr(), stdout: stdout() }).toEqual({ stderr: "", stdout: "Done.\n" });
  });
});

describe("a run that is printed on a terminal", () => {
  test("has one line that is drawn again, and removed before anything else is written", async () => {
    const { stderr, written } = await print(
      runOf([
        [1000, { ...model, attempt: 1, status: "started" }],
        [3000, { ...model, attempt: 1, status: "retried", reason: "no\nroute\u001b[2J", retry_after_ms: 500 }],
        [1000, done],
      ]),
      { isTTY: true },
    );
    const erase = "\r\u001b[K";
    expect(stderr()).toContain(`${erase}waiting for a worker (0.5 s)`);
    expect(stderr()).toContain(`${erase}waiting for openai/gpt-5 (2 s)`);
    expect(stderr()).toContain(`${erase}waiting for openai/gpt-5, attempt 2 in 0.3 s: no route (0.3 s)`);
    expect(stderr()).not.toContain("\u001b[2J");
    const drawn = written.filter(({ text }) => text.startsWith(`${erase}waiting`));
    expect(drawn.length).toBeGreaterThan(10);
    for (const { text } of drawn) expect(text).not.toContain("\n");
    // Each line that stays is written after the drawn one was removed.
    for (const [i, { text }] of written.entries()) if (text.endsWith("\n")) expect(written[i - 1]?.text).toBe(erase);
    expect(written.at(-1)?.text).toBe(erase);
  });
});
