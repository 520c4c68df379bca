import { afterEach, describe, expect, test, vi } from "vitest";
import { type LogFields, Perch } from "../src/index.ts";

const apiKey = "perch_0000000000000000000000000000000000000000221UW6";
const headers = { "content-type": "application/json", "x-correlation-id": "corr_1" };
const ok = () => new Response(JSON.stringify({ success: true, data: { secret: "of the response" } }), { headers });
const unavailable = () =>
  new Response(JSON.stringify({ error: { code: "unavailable", message: "secret" } }), { status: 503, headers });

afterEach(() => {
  vi.restoreAllMocks();
  delete process.env.PERCH_LOG;
});

/** A client that gets these answers, one after the other, and its log. */
function clientWith(answers: (() => Response)[], options = {}) {
  vi.spyOn(Math, "random").mockReturnValue(0);
  const logged: [level: string, message: string, fields: LogFields][] = [];
  const write = (level: string) => (message: string, fields: LogFields) => void logged.push([level, message, fields]);
  const fetch = async () => answers.shift()?.() ?? ok();
  const logger = { debug: write("debug"), info: write("info") };
  return { perch: new Perch({ baseUrl: "https://perch.example", apiKey, fetch, logger, ...options }), logged };
}

const call = (perch: Perch) =>
  perch.agents.update(
    "bot",
    { instructions: "secret of the body" },
    { force: true },
    { headers: { "x-own": "secret" } },
  );
const attempted = { method: "PATCH", path: "/v1/agents/bot", correlationId: "corr_1" };

describe("the log", () => {
  test("has every attempt and why it is retried, and neither body, query, headers nor key", async () => {
    const { perch, logged } = clientWith([unavailable, ok]);
    await call(perch);
    expect(logged).toEqual([
      [
        "debug",
        "request failed",
        expect.objectContaining({ ...attempted, status: 503, code: "unavailable", durationMs: expect.any(Number) }),
      ],
      ["info", "will retry", expect.objectContaining({ ...attempted, status: 503, code: "unavailable", waitMs: 0 })],
      ["debug", "response", expect.objectContaining({ ...attempted, status: 200, durationMs: expect.any(Number) })],
    ]);
    expect(JSON.stringify(logged)).not.toMatch(/secret|force|perch_0/);
  });

  test("has no key that was passed in the place of an id", async () => {
    const { perch, logged } = clientWith([ok]);
    await perch.agents.get(apiKey);
    expect(logged).toHaveLength(1);
    expect(JSON.stringify(logged)).not.toContain(apiKey);
  });

  test("has only the retries with info, and nothing when it is off", async () => {
    const info = clientWith([unavailable, ok], { logLevel: "info" });
    await call(info.perch);
    expect(info.logged.map(([level]) => level)).toEqual(["info"]);
    const off = clientWith([unavailable, ok], { logLevel: "off" });
    await call(off.perch);
    expect(off.logged).toEqual([]);
  });

  test("is written to stderr, a line for each, if PERCH_LOG asks for it and no logger is given", async () => {
    const written = vi.spyOn(console, "error").mockReturnValue();
    const others = [vi.spyOn(console, "log"), vi.spyOn(console, "debug"), vi.spyOn(console, "info")];
    await call(clientWith([ok], { logger: undefined }).perch);
    expect(written).not.toHaveBeenCalled();
    process.env.PERCH_LOG = "DEBUG";
    await call(clientWith([ok], { logger: undefined }).perch);
    expect(written.mock.calls).toEqual([
      [
        expect.stringMatching(
          /^perch: response method=PATCH path=\/v1\/agents\/bot status=200 correlationId=corr_1 durationMs=\d+$/,
        ),
      ],
    ]);
    for (const other of others) expect(other).not.toHaveBeenCalled();
    const hostile = { error: { code: "\u001b[2J\ngone", message: "" } };
    const refused = clientWith([() => Response.json(hostile, { status: 400 })], { logger: undefined }).perch.me();
    await expect(refused).rejects.toThrow();
    expect(written.mock.lastCall?.[0]).toContain("code=?[2J?gone durationMs=");
  });
});
