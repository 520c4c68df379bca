import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startInstallation } from "@perch/testkit/installation/installation.ts";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { expect, test } from "vitest";

const cli = join(import.meta.dirname, "../../packages/cli/src/main.ts");
const message = "Is there jasmine tea?";
const script = JSON.stringify({
  steps: [
    {
      reply: "Let me look.",
      tool_calls: [
        { name: "stock", arguments: { sku: "jasmine" } },
        { name: "price", arguments: { sku: "jasmine" } },
      ],
    },
    { tool_calls: [{ name: "order", arguments: { packets: 2 } }] },
    { reply: "Two packets are on their way." },
  ],
});

interface Step {
  readonly kind: string;
  readonly name: string;
  readonly attempt: number;
  readonly status: string;
  readonly reason: string | null;
  readonly input: unknown;
  readonly output: unknown;
}

test("the steps of a run that was killed in the middle are complete in the API, the CLI and the stream", async () => {
  verifies("runs.steps");
  // `stock` is away at first, `price` does not exist, and the first `order` never answers: its worker is killed meanwhile.
  const callsOf = (path: string) => shop.calls.filter((call) => call.path === path).length;
  const shop = await startToolServer(({ path }) => {
    if (path === "/stock") return callsOf(path) === 1 ? { status: 503 } : { body: "12 packets" };
    if (path === "/order") return callsOf(path) === 1 ? new Promise(() => {}) : { body: "ordered" };
    return { status: 404, body: "There is no price list." };
  });
  const tool = (name: string) => ({
    type: "http",
    name,
    description: "Of the shop.",
    method: "POST",
    url: `${shop.url}/${name}`,
    parameters: { type: "object" },
  });
  const perch = await startInstallation({
    settings: {
      PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
      // Streams survive the process in Valkey.
      PERCH_VALKEY_URL: serviceUrl("PERCH_VALKEY_URL"),
    },
  });
  const apiKey = await perch.createOrganisation("Acme");
  const home = mkdtempSync(join(tmpdir(), "perch-steps-"));
  const send = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${perch.url}/v1/agents${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    return response.text();
  };
  try {
    const tools = ["stock", "price", "order"].map(tool);
    await send("POST", "", { name: "bot", model: "perch/script", instructions: script, logs: "full", tools });
    const started = await send("POST", "/bot/invoke", { message }, { prefer: "respond-async" });
    const { request_id } = (JSON.parse(started) as { data: { request_id: string } }).data;
    await expect.poll(() => callsOf("/order"), { timeout: 60_000 }).toBe(1);
    perch.apis[0]?.child.kill("SIGKILL");
    await perch.startApi();
    const stream = await send("GET", `/bot/invocations/${request_id}`, undefined, { accept: "text/event-stream" });
    for (const [name, status] of [
      ["stock", "retried"],
      ["stock", "completed"],
      ["price", "failed"],
      ["order", "interrupted"],
      ["order", "completed"],
    ])
      expect(stream).toMatch(new RegExp(`"name":"${name}","attempt":\\d,"status":"${status}"`));
    expect(stream).toContain("Two packets are on their way.");

    const answer = await send("GET", `/bot/invocations/${request_id}/steps?limit=100`);
    const { data: steps } = JSON.parse(answer) as { data: Step[] };
    expect(steps.map(({ kind, name, attempt, status }) => `${kind} ${name} ${attempt} ${status}`)).toEqual([
      "model perch/script 1 completed",
      "tool stock 1 retried",
      "tool price 1 failed",
      "tool stock 2 completed",
      "model perch/script 1 completed",
      "tool order 1 interrupted",
      "tool order 1 completed",
      "model perch/script 1 completed",
    ]);
    for (const { status, reason } of steps)
      expect(reason !== null, `${status}: ${reason}`).toBe(status !== "completed");
    expect(steps[2]?.output).toContain("There is no price list.");
    expect(steps[6]).toMatchObject({ input: { packets: 2 }, output: expect.stringContaining("ordered") });

    const env = {
      PATH: process.env.PATH,
      HOME: home,
      XDG_CONFIG_HOME: home,
      NO_COLOR: "1",
      PERCH_URL: perch.url,
      PERCH_API_KEY: apiKey,
    };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--no-warnings", cli, "runs", "get", "bot", request_id],
      { env },
    );
    for (const text of [
      "stock  retried",
      "price  failed",
      "order  interrupted",
      "order  completed",
      "There is no price list.",
      '{"packets":2}',
      "Two packets are on their way.",
    ])
      expect(stdout).toContain(text);
    console.log(stdout);
  } finally {
    await perch.stop();
    await shop.close();
    rmSync(home, { recursive: true, force: true });
  }
}, 300_000);
