import { setTimeout as sleep } from "node:timers/promises";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import {
  followRunStream,
  invokeStreaming,
  joinTokens,
  readEventsUntil,
  type StreamEvent,
} from "../../../test/support/event-stream-client.ts";
import { type ApiNode, usePerch } from "../../../test/support/harness.ts";
import {
  createScriptedAgent,
  invokeAgent,
  invokeInBackground,
  waitForRunRecord,
} from "../../../test/support/invoke-calls.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
let other: ApiNode;
beforeAll(async () => {
  other = await perch().addApiNode();
});

const words = Array.from({ length: 20 }, (_, i) => `word-${i}`).join(" ");
const slowly = { reply: words, word_delay_ms: 40 };

async function createOrganisationWithAgent(steps: readonly object[] = [slowly], limits = {}) {
  const organisation = await perch().createOrganisation();
  await createScriptedAgent(organisation, steps, limits);
  return organisation;
}
const hello = { message: "hello" };
const tokensOf = (events: readonly StreamEvent[]) => events.filter(({ event }) => event === "token");

describe("Accept: text/event-stream", () => {
  test("tokens arrive while the model responds, then done with the whole answer; ids increase", async () => {
    verifies("invocation.stream");
    const { adminKey } = await createOrganisationWithAgent();
    const stream = await invokeStreaming(perch(), adminKey, hello);
    expect(stream.status).toBe(200);
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    const events = await stream.readAll();
    const done = events.at(-1);
    expect(done).toMatchObject({ event: "done", data: { response: words, tokens_used: 20 } });
    const tokens = tokensOf(events);
    expect(tokens.length).toBeGreaterThan(5);
    expect(tokens[0]?.atMs).toBeLessThan((done?.atMs ?? 0) - 400);
    expect(joinTokens(events)).toBe(words);
    // No text was repeated, and none replaced.
    expect(tokens.map(({ data }) => data.text).join("")).toBe(words);
    const ids = tokens.map(({ id }) => Number(id?.split("-")[0]));
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(stream.headers.get("location")).toBe(`/v1/agents/bot/invocations/${String(done?.data.request_id)}`);
  });

  test("a connection cut in the middle and resumed on the other node yields the full text once", async () => {
    verifies("invocation.stream");
    const { adminKey } = await createOrganisationWithAgent();
    const headers = { "idempotency-key": "k" };
    const first = await readEventsUntil(
      await invokeStreaming(perch(), adminKey, hello, { headers }),
      (seen) => seen.length === 5,
    );
    const resumed = await invokeStreaming(other, adminKey, hello, {
      headers: { ...headers, "last-event-id": first.at(-1)?.id },
    });
    const rest = await resumed.readAll();
    const all = [...first, ...rest];
    expect(
      tokensOf(all)
        .map(({ data }) => data.text)
        .join(""),
    ).toBe(words);
    expect(rest.at(-1)).toMatchObject({ event: "done", data: { response: words } });
    expect(resumed.headers.get("idempotent-replayed")).toBe("true");
    const again = await (
      await invokeStreaming(other, adminKey, hello, { headers: { ...headers, "last-event-id": rest.at(-1)?.id } })
    ).readAll();
    expect(again.map(({ event }) => event)).toEqual(["done"]);
  });

  test("GET follows the same run, from the beginning or after an event, while it runs and afterwards", async () => {
    const { adminKey } = await createOrganisationWithAgent();
    const started = await invokeStreaming(perch(), adminKey, hello);
    const location = started.headers.get("location") ?? "";
    const whole = await (await followRunStream(other, adminKey, location)).readAll();
    expect(joinTokens(whole)).toBe(words);
    expect(whole.at(-1)).toMatchObject({ event: "done", data: { response: words } });
    const later = await (await followRunStream(perch(), adminKey, location, whole[2]?.id)).readAll();
    expect(later).toEqual(whole.slice(3).map((event) => ({ ...event, atMs: expect.any(Number) as number })));
    started.abort();
  });

  test("a client that disconnects does not stop the run", async () => {
    const organisation = await createOrganisationWithAgent();
    const stream = await invokeStreaming(perch(), organisation.adminKey, hello);
    await readEventsUntil(stream, (seen) => seen.length === 1);
    const id = stream.headers.get("location")?.split("/").at(-1) ?? "";
    expect(await waitForRunRecord(organisation, id)).toMatchObject({ status: "completed", response: words });
  });

  test("a run in the background can be followed, and respond-async takes precedence over the stream", async () => {
    const { adminKey } = await createOrganisationWithAgent();
    const id = await invokeInBackground(perch(), adminKey, hello, { headers: { accept: "text/event-stream" } });
    const events = await (await followRunStream(other, adminKey, `/v1/agents/bot/invocations/${id}`)).readAll();
    expect(tokensOf(events).length).toBeGreaterThan(3);
    expect(joinTokens(events)).toBe(words);
  });

  test("a run that was not streamed sends its whole text at its end", async () => {
    const { adminKey } = await createOrganisationWithAgent([{ reply: words, delay_ms: 1500 }]);
    const headers = { "idempotency-key": "k" };
    const waiting = invokeAgent(perch(), adminKey, hello, { headers });
    await sleep(300);
    const joined = await (await invokeStreaming(other, adminKey, hello, { headers })).readAll();
    expect(joined.map(({ event, data }) => [event, data.text ?? data.response])).toEqual([
      ["token", words],
      ["done", words],
    ]);
    expect((await waiting).data.response).toBe(words);
  });

  test("tool calls are shown, and each step has a text of its own", async () => {
    verifies("invocation.stream");
    const look = {
      reply: "Let me look.",
      tool_calls: [
        { name: "perch_echo", arguments: { a: 1 } },
        { name: "nothing", arguments: {} },
      ],
    };
    const { adminKey } = await createOrganisationWithAgent([look, { reply: "Found it." }]);
    const events = await (await invokeStreaming(perch(), adminKey, hello)).readAll();
    const tools = events.filter(({ event }) => event === "tool").map(({ data }) => data);
    expect(tools).toHaveLength(4);
    const echo = { step: 1, call: 1, name: "perch_echo", attempt: 1 };
    expect(tools).toContainEqual({ ...echo, status: "started", arguments: { a: 1 } });
    expect(tools).toContainEqual({ ...echo, status: "completed", output: { characters: 7 } });
    expect(tools).toContainEqual(expect.objectContaining({ call: 2, name: "nothing", status: "failed" }));
    expect(tokensOf(events).map(({ data }) => [data.step, data.offset, data.text])).toEqual([
      [1, 0, "Let me look."],
      [2, 0, "Found it."],
    ]);
    expect(events.at(-1)?.data.response).toBe("Found it.");
  });

  test("a run that fails or is cancelled ends with an error event", async () => {
    verifies("invocation.stream");
    const organisation = await createOrganisationWithAgent([{ fail: "permanent", reply: "No." }]);
    const events = await (await invokeStreaming(perch(), organisation.adminKey, hello)).readAll();
    const failed = events.filter(({ event }) => event !== "step");
    expect(failed).toMatchObject([{ event: "error", data: { code: "run_failed", retryable: false, message: "No." } }]);
    ok(
      await organisation.call("PATCH /v1/agents/{agent_id}", {
        params: { agent_id: "bot" },
        body: { instructions: JSON.stringify({ steps: [{ fail: "transient" }] }) },
      }),
    );
    const stream = await invokeStreaming(perch(), organisation.adminKey, hello);
    const request_id = stream.headers.get("location")?.split("/").at(-1) ?? "";
    const params = { agent_id: "bot", request_id };
    ok(await organisation.call("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", { params }));
    expect((await stream.readAll()).at(-1)).toMatchObject({ event: "error", data: { code: "conflict", request_id } });
  });

  test("refusals before the run starts are JSON, with their status", async () => {
    const { adminKey } = await createOrganisationWithAgent();
    for (const [agent, body, status] of [
      ["nobody", hello, 404],
      ["bot", {}, 400],
    ] as const) {
      const stream = await invokeStreaming(perch(), adminKey, body, { agent });
      expect(stream.status).toBe(status);
      expect(stream.headers.get("content-type")).toContain("application/json");
    }
    const foreign = await perch().createOrganisation();
    const stream = await invokeStreaming(perch(), adminKey, hello);
    const other = await followRunStream(perch(), foreign.adminKey, stream.headers.get("location") ?? "");
    expect(other.status).toBe(404);
    await stream.readAll();
  });

  test("a client that does not ask for events gets JSON", async () => {
    const { adminKey } = await createOrganisationWithAgent([{ reply: "hi" }]);
    const { status, data } = await invokeAgent(perch(), adminKey, hello, {
      headers: { accept: "application/json, */*" },
    });
    expect([status, data.response]).toEqual([200, "hi"]);
  });
});

test("a retry after the agent was deleted gets the first answer, although another agent has the name now", async () => {
  const organisation = await createOrganisationWithAgent([{ reply: "first" }]);
  const headers = { "idempotency-key": "k" };
  await (await invokeStreaming(perch(), organisation.adminKey, hello, { headers })).readAll();
  ok(await organisation.call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
  await createScriptedAgent(organisation, [{ reply: "second" }]);
  const again = await (await invokeStreaming(perch(), organisation.adminKey, hello, { headers })).readAll();
  expect(again.at(-1)).toMatchObject({ event: "done", data: { response: "first" } });
});
