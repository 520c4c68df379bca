import { setTimeout as sleep } from "node:timers/promises";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { hang, startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { invokeStreaming, type StreamEvent } from "../support/event-stream-client.ts";
import { invokeAgent } from "../support/invoke-calls.ts";
import { listRunLogEntries } from "../support/log-calls.ts";
import { usePerchWithWorkerProcesses } from "../support/worker-processes.ts";

const call = (name: string) => ({ name, arguments: {} });
const script = await startScriptServer((request) =>
  lastUserMessage(request) === "kill" && request.step === 1
    ? { tool_calls: [call("slow"), call("quick")] }
    : { reply: "done" },
);
const server = await startToolServer(({ path }) =>
  path === "/slow" && server.calls.filter((one) => one.path === "/slow").length === 1 ? hang() : { body: path },
);
const perchWithWorkers = usePerchWithWorkerProcesses({
  PERCH_SCRIPT_MODEL_URL: script.url,
  PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
});
afterAll(() => Promise.all([script.close(), server.close()]));

const tools = ["slow", "quick"].map(
  (name) =>
    ({
      type: "http",
      name,
      description: "",
      method: "POST",
      url: `${server.url}/${name}`,
      parameters: { type: "object" },
    }) as const,
);

test("a worker killed within a tool call: stream and log report that the call began again, and no other step", async () => {
  verifies("invocation.stream", "logs.run-steps");
  const { perch, ensureWorkers, endActiveWorker } = perchWithWorkers();
  await ensureWorkers(1);
  const organisation = await perch.createOrganisation();
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/script", tools } }));
  await invokeAgent(perch, organisation.adminKey, { message: "warm up" });
  await ensureWorkers(2);
  const stream = await invokeStreaming(perch, organisation.adminKey, { message: "kill" });
  const events: StreamEvent[] = [];
  let killed: Promise<void> | undefined;
  for await (const event of stream.events()) {
    events.push(event);
    // The quick one has a result, which the engine stores a moment after it arrives; the slow one has none.
    if (event.data.name === "quick" && event.data.status === "completed")
      killed ??= sleep(1500).then(() => endActiveWorker("SIGKILL"));
  }
  await killed;
  const told = events
    .filter(({ event }) => event === "tool" || event === "step")
    .filter(({ data }) => data.name !== "quick" || data.status === "interrupted")
    .map(({ event, data }) => `${event} ${String(data.name)} ${String(data.status)}`);
  expect(told).toEqual([
    "step perch/script started",
    "step perch/script completed",
    "tool slow started",
    "tool slow interrupted",
    "tool slow started",
    "tool slow completed",
    "step perch/script started",
    "step perch/script completed",
  ]);
  expect(events.at(-1)).toMatchObject({ event: "done", data: { response: "done" } });
  const id = stream.headers.get("location")?.split("/").at(-1) ?? "";
  const lines = await listRunLogEntries(organisation, id);
  expect(lines.filter(({ metadata }) => metadata.type === "interrupted")).toMatchObject([
    {
      level: "warn",
      metadata: { kind: "tool", step: 1, call: 1, tool: "slow", reason: expect.stringContaining("worker was lost") },
    },
  ]);
}, 120_000);
