import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type Organisation, usePerch } from "../../server/test/support/harness.ts";
import { ActionRequiredError, ConflictError, Perch, type RunStreamEvent } from "../src/index.ts";

const tool = await startToolServer(({ body }) => ({ body: { did: JSON.parse(body) } }));
afterAll(() => tool.close());
const server = usePerch(
  { outboundAllowedPrivateRanges: ["127.0.0.0/8"], valkeyUrl: serviceUrl("PERCH_VALKEY_URL") },
  { withWorker: true },
);
let organisation: Organisation;
/** May run agents, and not decide. */
let perch: Perch;
/** May decide. */
let approver: Perch;

const script = (...steps: object[]): string => JSON.stringify({ steps });
const refundCall = { reply: "One moment.", tool_calls: [{ name: "refund", arguments: { amount: 500 } }] };
const refund = {
  type: "http" as const,
  name: "refund",
  description: "Pays money back.",
  method: "POST" as const,
  url: tool.url,
  parameters: { type: "object" as const, properties: { amount: { type: "number" } }, required: ["amount"] },
  approval: { when: [{ argument: "amount", op: "gt" as const, value: 100 }] },
};

beforeEach(async () => {
  tool.calls.splice(0);
  organisation = await server().createOrganisation();
  const key = await organisation.createKey({ permissions: ["read", "approve"] });
  perch = new Perch({ baseUrl: server().url, apiKey: organisation.adminKey });
  approver = new Perch({ baseUrl: server().url, apiKey: key });
  await perch.agents.create({
    name: "bot",
    model: "perch/script",
    instructions: script(refundCall, { reply: "Paid back." }),
    tools: [refund],
  });
});

const invokeUntilWaiting = async (): Promise<ActionRequiredError> => {
  const error = await perch.agents.invoke("bot", { message: "hello" }).catch((thrown: unknown) => thrown);
  if (!(error instanceof ActionRequiredError)) throw error;
  return error;
};

describe("a run that waits for a person", () => {
  test("is an error of invoke with the open decisions, and runs.wait gets its result after the decision", async () => {
    const error = await invokeUntilWaiting();
    expect(error.approvalIds).toHaveLength(1);
    expect(await perch.runs.get("bot", error.runId)).toMatchObject({ status: "waiting" });
    const [id = ""] = error.approvalIds;
    expect(await approver.approvals.get(id)).toMatchObject({
      status: "open",
      why: "`amount` is more than 100.",
      contents: { arguments: { amount: 500 }, message: "hello" },
    });
    expect(await perch.approvals.get(id)).toMatchObject({ contents: null });
    expect(tool.calls).toEqual([]);
    expect(await approver.approvals.approve(id)).toMatchObject({ status: "approved" });
    expect(await perch.runs.wait("bot", error.runId)).toMatchObject({ response: "Paid back." });
    expect(tool.calls.map(({ body }) => JSON.parse(body))).toEqual([{ amount: 500 }]);
  });

  test("goes on in the same loop of a stream with waitForDecision, while its reader decides", async () => {
    const events: RunStreamEvent[] = [];
    const stream = perch.agents.invokeStream("bot", { message: "hello" }, { waitForDecision: true });
    for await (const event of stream) {
      events.push(event);
      if (event.type === "action_required")
        for (const { id } of event.approvals) await approver.approvals.approve(id, { arguments: { amount: 50 } });
    }
    const types = [...new Set(events.map(({ type }) => type))];
    expect(types).toEqual(["step", "token", "action_required", "tool", "done"]);
    expect(events.filter(({ type }) => type === "action_required")).toHaveLength(1);
    const texts = events.filter((event) => event.type === "token").map(({ text }) => text);
    expect(texts.join("")).toBe("One moment.Paid back.");
    expect(tool.calls.map(({ body }) => JSON.parse(body))).toEqual([{ amount: 50 }]);
  });

  test("is followed by another client after the last event, and nothing comes twice", async () => {
    const stream = perch.agents.invokeStream("bot", { message: "hello" });
    const before: RunStreamEvent[] = [];
    for await (const event of stream) before.push(event);
    const last = before.at(-1);
    if (last?.type !== "action_required") throw new Error("no action was required");
    const { runId = "", lastEventId } = stream;
    await approver.approvals.reject(last.approvals[0]?.id ?? "", { reason: "Not on a Sunday." });
    const after: RunStreamEvent[] = [];
    for await (const event of perch.runs.follow("bot", runId, { lastEventId })) after.push(event);
    expect(after.flatMap((event) => (event.type === "token" ? [event.text] : []))).toEqual(["Paid back."]);
    expect(after.at(-1)).toMatchObject({ type: "done" });
    expect(tool.calls).toEqual([]);
  });

  test("refuses its session's next message with a conflict that is not about a cancelled run", async () => {
    const context = { session_id: "s-1" };
    await perch.agents.invoke("bot", { message: "hello", context }).catch(() => undefined);
    const refused = await perch.agents.invoke("bot", { message: "again", context }).catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(ConflictError);
    expect(refused).toMatchObject({ name: "ConflictError", code: "conflict" });
  });
});

describe("approvals.list", () => {
  test("is narrowed by its filters, and iterates over pages", async () => {
    const { approvalIds } = await invokeUntilWaiting();
    const found = await perch.approvals.list({ status: "open", agent_id: "bot", tool: "refund" }).toArray();
    expect(found.map(({ id }) => id)).toEqual(approvalIds);
    expect(await perch.approvals.list({ status: "approved" }).toArray()).toEqual([]);
    expect((await perch.request("GET /v1/approvals")).open).toEqual({ count: 1, relation: "eq" });
  });
});
