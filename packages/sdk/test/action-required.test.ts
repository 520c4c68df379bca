import { describe, expect, test } from "vitest";
import { ActionRequiredError, Perch, type RunStreamEvent } from "../src/index.ts";

interface Asked {
  readonly route: string;
  readonly lastEventId: string | null;
  readonly headers: Headers;
  readonly atMs: number;
}

type Answer = (call: Asked) => Response;

/** A client of a server that gives these answers, one after the other, and the last one for ever. */
function createClient(...answers: Answer[]) {
  const asked: Asked[] = [];
  const fetch: typeof globalThis.fetch = async (url, init = {}) => {
    const headers = new Headers(init.headers);
    const route = `${init.method ?? "GET"} ${new URL(String(url)).pathname}`;
    const call = { route, lastEventId: headers.get("last-event-id"), headers, atMs: performance.now() };
    asked.push(call);
    const answer = answers[Math.min(asked.length, answers.length) - 1];
    if (!answer) throw new Error("no answer");
    return answer(call);
  };
  return { perch: new Perch({ baseUrl: "https://perch.example", apiKey: "k", fetch }), asked };
}

const events =
  (...sent: (readonly [id: string, event: string, data: object])[]): Answer =>
  () =>
    new Response(
      sent.map(([id, event, data]) => `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join(""),
      { headers: { "content-type": "text/event-stream", location: "/v1/agents/bot/invocations/req_1" } },
    );
const json =
  (status: number, body: object): Answer =>
  () =>
    Response.json(body, { status });

const required = (...ids: string[]) => ({
  request_id: "req_1",
  message: "The run waits for a person.",
  approvals: ids.map((id, call) => ({ id, kind: "tool", tool: "refund", step: 1, call: call + 1 })),
});
const token = { step: 2, offset: 0, text: "Done." };
const done = { response: "Done.", request_id: "req_1", tokens_used: 3, duration_ms: 5 };
const rest = events(["3-0", "token", token], ["4-0", "done", done]);

async function allOf(stream: AsyncIterable<RunStreamEvent>): Promise<RunStreamEvent[]> {
  const all: RunStreamEvent[] = [];
  for await (const event of stream) all.push(event);
  return all;
}
const typesOf = (all: readonly RunStreamEvent[]) => all.map(({ type }) => type);
const follow = "GET /v1/agents/bot/invocations/req_1";
const invoke = "POST /v1/agents/bot/invoke";

describe("a stream of a run that waits for a person", () => {
  test("ends after action_required without an error or another request, and its result is an ActionRequiredError", async () => {
    const { perch, asked } = createClient(events(["2-0", "action_required", required("appr_1", "appr_2")]));
    const stream = perch.agents.invokeStream("bot", { message: "hello" });
    expect(await allOf(stream)).toEqual([{ type: "action_required", ...required("appr_1", "appr_2") }]);
    const error = await stream.result().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ActionRequiredError);
    expect(error).toMatchObject({ status: 409, code: "action_required", runId: "req_1" });
    expect(error).toMatchObject({ approvalIds: ["appr_1", "appr_2"] });
    expect(String(error)).toContain("After the decision, runs.wait gets the result.");
    expect(await allOf(stream)).toEqual([]);
    expect(stream).toMatchObject({ runId: "req_1", lastEventId: "2-0" });
    expect(asked).toHaveLength(1);
  });

  test("is continued by runs.follow after its last event", async () => {
    const { perch, asked } = createClient(rest);
    expect(typesOf(await allOf(perch.runs.follow("bot", "req_1", { lastEventId: "2-0" })))).toEqual(["token", "done"]);
    expect(asked).toMatchObject([{ route: follow, lastEventId: "2-0" }]);
  });

  test("continues by the run's id with waitForDecision: no event comes twice, and the key is not sent again", async () => {
    const waits = events(["2-0", "action_required", required("appr_1", "appr_2")]);
    const oneIsLeft = events(["2-0", "action_required", required("appr_2")]);
    const { perch, asked } = createClient(waits, waits, oneIsLeft, rest);
    const stream = perch.agents.invokeStream("bot", { message: "hello" }, { waitForDecision: true });
    expect(typesOf(await allOf(stream))).toEqual(["action_required", "token", "done"]);
    expect((await stream.result()).response).toBe("Done.");
    expect(asked.map(({ route }) => route)).toEqual([invoke, follow, follow, follow]);
    expect(asked.map(({ lastEventId }) => lastEventId)).toEqual([null, "2-0", "2-0", "2-0"]);
    expect(asked[1]?.headers.has("idempotency-key")).toBe(false);
  });

  test("yields the next decision that it waits for", async () => {
    const { perch } = createClient(
      events(["2-0", "action_required", required("appr_1")]),
      events(["3-0", "token", token], ["5-0", "action_required", required("appr_3")]),
      events(["6-0", "done", done]),
    );
    const all = await allOf(perch.runs.follow("bot", "req_1", { waitForDecision: true }));
    expect(typesOf(all)).toEqual(["action_required", "token", "action_required", "done"]);
  });

  test("asks at once when its reader has decided, then less and less often", async () => {
    const waits = events(["2-0", "action_required", required("appr_1")]);
    const { perch, asked } = createClient(waits, waits, waits, rest);
    await allOf(perch.runs.follow("bot", "req_1", { waitForDecision: true }));
    const waitsMs = asked.slice(1).map(({ atMs }, index) => atMs - (asked[index]?.atMs ?? 0));
    expect(waitsMs[0]).toBeLessThan(400);
    expect(waitsMs[1]).toBeGreaterThanOrEqual(498);
    expect(waitsMs[2]).toBeGreaterThanOrEqual(748);
  });

  test("can be aborted while it waits", async () => {
    const abort = new AbortController();
    const { perch } = createClient(events(["2-0", "action_required", required("appr_1")]));
    const options = { waitForDecision: true, signal: abort.signal };
    const result = perch.agents.invokeStream("bot", { message: "hello" }, options).result();
    setTimeout(() => abort.abort(new Error("enough")), 100);
    await expect(result).rejects.toThrow("enough");
  });
});

describe("agents.invoke", () => {
  const waiting = { request_id: "req_1", status: "waiting", approvals: ["appr_1"] };

  test("throws an ActionRequiredError for 202 and for 409, and does not ask again", async () => {
    const details = [
      { field: "request_id", error: "req_1" },
      { field: "approval_id", error: "appr_1" },
    ];
    for (const answer of [
      json(202, { success: true, data: waiting }),
      json(409, {
        success: false,
        error: { code: "action_required", message: "The run waits for a person.", details },
      }),
    ]) {
      const { perch, asked } = createClient(answer);
      const error = await perch.agents.invoke("bot", { message: "hello" }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ActionRequiredError);
      expect(error).toMatchObject({ status: 409, runId: "req_1", approvalIds: ["appr_1"], method: "POST" });
      expect(error).toMatchObject({ url: "https://perch.example/v1/agents/bot/invoke" });
      expect(error).toMatchObject({ idempotencyKey: asked[0]?.headers.get("idempotency-key") });
      expect(String(error)).toContain("approval_id: appr_1");
      expect(asked).toHaveLength(1);
    }
  });

  test("waits for the decision with waitForDecision, by the run's id", async () => {
    const { perch, asked } = createClient(json(202, { success: true, data: waiting }), rest);
    expect(await perch.agents.invoke("bot", { message: "hello" }, { waitForDecision: true })).toEqual(done);
    expect(asked.map(({ route }) => route)).toEqual([invoke, follow]);
  });
});

describe("runs.wait", () => {
  const waits = events(["2-0", "action_required", required("appr_1")]);

  test("throws an ActionRequiredError at once, and waits for the decision with waitForDecision", async () => {
    await expect(createClient(waits).perch.runs.wait("bot", "req_1")).rejects.toBeInstanceOf(ActionRequiredError);
    const { perch } = createClient(waits, rest);
    expect(await perch.runs.wait("bot", "req_1", { waitForDecision: true })).toEqual(done);
  });

  test("waits no longer than timeoutSeconds", async () => {
    const options = { waitForDecision: true, timeoutSeconds: 0.2 };
    await expect(createClient(waits).perch.runs.wait("bot", "req_1", options)).rejects.toThrow("goes on");
  });
});
