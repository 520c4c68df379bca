import type { AgentDefinitionPatch } from "@perch/contract";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { invokeStreaming, type StreamEvent } from "../../../test/support/event-stream-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { listRunLogEntries } from "../../../test/support/log-calls.ts";

const replies = new Map<string, readonly object[]>();
const script = await startScriptServer(
  (call) => replies.get(lastUserMessage(call))?.[call.step - 1] ?? { reply: "done" },
);
afterAll(() => script.close());
const perch = usePerch(
  {
    scriptModelUrl: script.url,
    valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
    outboundAllowedPrivateRanges: ["127.0.0.0/8"],
  },
  { withWorker: true },
);

async function createOrganisationWithAgent(definition: AgentDefinitionPatch): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/script", ...definition } }));
  return organisation;
}

/** All events of a run, and its id. */
async function follow({ adminKey }: Organisation, message: string, apiKey = adminKey) {
  const stream = await invokeStreaming(perch(), apiKey, { message });
  const id = stream.headers.get("location")?.split("/").at(-1) ?? "";
  return { id, events: await stream.readAll() };
}

const dataOf = (events: readonly StreamEvent[], ...names: readonly string[]) =>
  events.filter(({ event }) => names.includes(event)).map(({ data }) => data);

/** The log lines of the steps of these types. */
const linesOf = async (organisation: Organisation, id: string, ...types: readonly string[]) =>
  (await listRunLogEntries(organisation, id))
    .map(({ metadata }) => metadata)
    .filter(({ type }) => types.includes(String(type)));

async function startFlakyTool() {
  let calls = 0;
  const server = await startToolServer(({ path }) => {
    if (path === "/gone") return { status: 404, body: "gone: order 7" };
    calls++;
    return calls === 1 ? { status: 503 } : { body: { booked: 7 } };
  });
  onTestFinished(() => server.close());
  const tool = (name: string, path: string) =>
    ({
      type: "http",
      name,
      description: "",
      method: "POST",
      url: server.url + path,
      parameters: { type: "object" },
    }) as const;
  return [tool("book", "/book"), tool("find", "/gone")];
}

const both = {
  tool_calls: [
    { name: "book", arguments: { room: 7 } },
    { name: "find", arguments: {} },
  ],
};

describe("the stream of a run with two tools, one retried and one failed", () => {
  test("publishes every attempt of every step, with its reason and its wait, and the log keeps them", async () => {
    verifies("invocation.stream", "logs.run-steps");
    replies.set("two tools", [both]);
    const organisation = await createOrganisationWithAgent({ tools: await startFlakyTool() });
    const { id, events } = await follow(organisation, "two tools");
    expect(events.at(-1)).toMatchObject({ event: "done", data: { response: "done" } });

    const model = { kind: "model", name: "perch/script", attempt: 1 };
    expect(dataOf(events, "step")).toMatchObject([
      { ...model, step: 1, status: "started" },
      { ...model, step: 1, status: "completed", tokens: expect.any(Number) },
      { ...model, step: 2, status: "started" },
      { ...model, step: 2, status: "completed", tokens: expect.any(Number) },
    ]);
    const book = { step: 1, call: 1, name: "book" };
    const busy = { reason: "The tool book answered 503.", retry_after_ms: expect.any(Number) };
    expect(dataOf(events, "tool").filter(({ call }) => call === 1)).toEqual([
      { ...book, attempt: 1, status: "started", arguments: { room: 7 } },
      { ...book, attempt: 1, status: "retried", ...busy },
      { ...book, attempt: 2, status: "started", arguments: { room: 7 } },
      { ...book, attempt: 2, status: "completed", output: { characters: 12 } },
    ]);
    const gone = "The tool find answered 404.";
    expect(dataOf(events, "tool").filter(({ call }) => call === 2)).toMatchObject([
      { name: "find", status: "started" },
      { name: "find", status: "failed", reason: gone, output: { characters: 41 } },
    ]);

    const lines = await linesOf(organisation, id, "tool_call");
    const kept = { type: "tool_call", step: 1, duration_ms: expect.any(Number) };
    expect(lines.filter(({ call }) => call === 1)).toMatchObject([
      { ...kept, tool: "book", failed: true, ...busy },
      { ...kept, tool: "book", attempt: 2 },
    ]);
    expect(lines.filter(({ call }) => call === 2)).toMatchObject([
      { ...kept, tool: "find", failed: true, reason: gone },
    ]);
    expect(JSON.stringify(lines)).not.toContain("order 7");
  });

  test.each([
    ["off", undefined, undefined],
    ["full", { room: 7 }, '{"booked":7}'],
  ] as const)("with logs %s shows what it may of the input and output of the tool", async (logs, input, output) => {
    const message = `logs ${logs}`;
    replies.set(message, [both]);
    const organisation = await createOrganisationWithAgent({ tools: await startFlakyTool(), logs });
    const tools = dataOf((await follow(organisation, message)).events, "tool");
    expect(tools.find(({ call, status }) => call === 1 && status === "started")?.arguments).toEqual(input);
    expect(tools.find(({ call, status }) => call === 1 && status === "completed")?.output).toEqual(output);
    expect(JSON.stringify(tools).includes("order 7")).toBe(logs === "full");
  });
});

test("a key that may run the agent and not read its runs does not see the output of a tool in the stream", async () => {
  replies.set("not said", [both]);
  const organisation = await createOrganisationWithAgent({ tools: await startFlakyTool(), logs: "full" });
  const writer = await organisation.createKey({ permissions: ["write"] });
  const tools = dataOf((await follow(organisation, "not said", writer)).events, "tool");
  expect(tools.map(({ status }) => status)).toContain("completed");
  for (const event of tools) expect(event).not.toHaveProperty("output");
  expect(JSON.stringify(tools)).not.toContain("order 7");
});

describe("a run that needs what cannot be reached", () => {
  /** Every attempt begins, and all but the last are retried. On a busy machine, fewer than six fit into the time. */
  function expectAttempts(steps: readonly Record<string, unknown>[]): void {
    const attempts = steps.length / 2;
    expect(attempts).toBeGreaterThanOrEqual(3);
    expect(attempts).toBeLessThanOrEqual(6);
    const ends = Array.from({ length: attempts }, (_, i) => (i < attempts - 1 ? "retried" : "failed"));
    expect(steps.map(({ attempt, status }) => [attempt, status])).toEqual(
      ends.flatMap((end, i) => [
        [i + 1, "started"],
        [i + 1, end],
      ]),
    );
  }

  test("an MCP server: the stream shows each attempt, and the run fails after seconds, not at its time limit", async () => {
    verifies("models.unreachable", "invocation.stream");
    const url = `http://127.0.0.1:${await freePort()}/mcp`;
    const organisation = await createOrganisationWithAgent({ tools: [{ type: "mcp", name: "docs", url }] });
    const { id, events } = await follow(organisation, "refused");
    const reason = "The MCP server docs could not be reached: it refuses connections (ECONNREFUSED).";
    const steps = dataOf(events, "step");
    expectAttempts(steps);
    expect(steps[1]).toMatchObject({
      kind: "tools",
      step: 0,
      name: "docs",
      reason,
      retry_after_ms: expect.any(Number),
    });
    expect(events.at(-1)).toMatchObject({ event: "error" });
    expect(events.at(-1)?.data.message).toMatch(
      /could not be reached: it refuses connections \(ECONNREFUSED\)\. Tried \d times in \d+ s\. Start it, or correct `url` of the tool docs\.$/,
    );
    expect(events.at(-1)?.atMs).toBeLessThan(40_000);
    const lines = await linesOf(organisation, id, "tools");
    expect(lines).toHaveLength(steps.length / 2);
    expect(lines.at(-1)).toMatchObject({ servers: ["docs"], step: 0, attempt: lines.length, failed: true, reason });
  }, 90_000);

  test("a remote agent: the same", async () => {
    verifies("models.unreachable");
    const url = `http://127.0.0.1:${await freePort()}/`;
    const organisation = await createOrganisationWithAgent({ runtime: { type: "http", url } });
    const { events } = await follow(organisation, "refused");
    expectAttempts(dataOf(events, "step"));
    expect(events.at(-1)?.data.message).toMatch(
      /Tried \d times in \d+ s\. Start it, or correct `runtime\.url` of the agent\.$/,
    );
    expect(events.at(-1)?.atMs).toBeLessThan(40_000);
  }, 90_000);
});
