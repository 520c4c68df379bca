import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { serviceUrl } from "../../../../scripts/testbed/scratch-database.ts";
import { verifies } from "../../../../spec/verifies.ts";
import { ok } from "../../test/contract-client.ts";
import { type Node, usePerch } from "../../test/harness.ts";
import { inBackground, invokeAt, recordOf, scripted } from "../../test/invoking.ts";
import { followAt, type SeenEvent, streamAt, takeUntil, textOf } from "../../test/streaming.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { runs: true });
let other: Node;
beforeAll(async () => {
  other = await perch().addNode();
});

const words = Array.from({ length: 20 }, (_, i) => `word-${i}`).join(" ");
const slowly = { reply: words, word_delay_ms: 40 };

async function withBot(steps: readonly object[] = [slowly], limits = {}) {
  const organisation = await perch().newOrganisation();
  await scripted(organisation, steps, limits);
  return organisation;
}
const hello = { message: "hello" };
const tokensOf = (events: readonly SeenEvent[]) => events.filter(({ event }) => event === "token");

describe("Accept: text/event-stream", () => {
  test("tokens come while the model speaks, then done with the whole answer; ids grow", async () => {
    verifies("invocation.stream");
    const { adminKey } = await withBot();
    const stream = await streamAt(perch(), adminKey, hello);
    expect(stream.status).toBe(200);
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    const events = await stream.all();
    const done = events.at(-1);
    expect(done).toMatchObject({ event: "done", data: { response: words, tokens_used: 20 } });
    const tokens = tokensOf(events);
    expect(tokens.length).toBeGreaterThan(5);
    expect(tokens[0]?.atMs).toBeLessThan((done?.atMs ?? 0) - 400);
    expect(textOf(events)).toBe(words);
    // Nothing was said twice, and nothing replaced.
    expect(tokens.map(({ data }) => data.text).join("")).toBe(words);
    const ids = tokens.map(({ id }) => Number(id?.split("-")[0]));
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(stream.headers.get("location")).toBe(`/v1/agents/bot/invocations/${String(done?.data.request_id)}`);
  });

  test("a connection cut in the middle and resumed on the other node yields the full text once", async () => {
    verifies("invocation.stream");
    const { adminKey } = await withBot();
    const headers = { "idempotency-key": "k" };
    const first = await takeUntil(await streamAt(perch(), adminKey, hello, { headers }), (seen) => seen.length === 5);
    const resumed = await streamAt(other, adminKey, hello, {
      headers: { ...headers, "last-event-id": first.at(-1)?.id },
    });
    const rest = await resumed.all();
    const all = [...first, ...rest];
    expect(
      tokensOf(all)
        .map(({ data }) => data.text)
        .join(""),
    ).toBe(words);
    expect(rest.at(-1)).toMatchObject({ event: "done", data: { response: words } });
    expect(resumed.headers.get("idempotent-replayed")).toBe("true");
    const again = await (
      await streamAt(other, adminKey, hello, { headers: { ...headers, "last-event-id": rest.at(-1)?.id } })
    ).all();
    expect(again.map(({ event }) => event)).toEqual(["done"]);
  });

  test("GET follows the same run, from the beginning or after an event, while it runs and afterwards", async () => {
    const { adminKey } = await withBot();
    const started = await streamAt(perch(), adminKey, hello);
    const location = started.headers.get("location") ?? "";
    const whole = await (await followAt(other, adminKey, location)).all();
    expect(textOf(whole)).toBe(words);
    expect(whole.at(-1)).toMatchObject({ event: "done", data: { response: words } });
    const later = await (await followAt(perch(), adminKey, location, whole[2]?.id)).all();
    expect(later).toEqual(whole.slice(3).map((event) => ({ ...event, atMs: expect.any(Number) as number })));
    started.cut();
  });

  test("a client that leaves does not stop the run", async () => {
    const organisation = await withBot();
    const stream = await streamAt(perch(), organisation.adminKey, hello);
    await takeUntil(stream, (seen) => seen.length === 1);
    const id = stream.headers.get("location")?.split("/").at(-1) ?? "";
    expect(await recordOf(organisation, id)).toMatchObject({ status: "completed", response: words });
  });

  test("a run in the background can be followed, and respond-async beats the stream", async () => {
    const { adminKey } = await withBot();
    const id = await inBackground(perch(), adminKey, hello, { headers: { accept: "text/event-stream" } });
    const events = await (await followAt(other, adminKey, `/v1/agents/bot/invocations/${id}`)).all();
    expect(tokensOf(events).length).toBeGreaterThan(3);
    expect(textOf(events)).toBe(words);
  });

  test("a run that was not streamed brings its whole text at its end", async () => {
    const { adminKey } = await withBot([{ reply: words, delay_ms: 1500 }]);
    const headers = { "idempotency-key": "k" };
    const waiting = invokeAt(perch(), adminKey, hello, { headers });
    await sleep(300);
    const joined = await (await streamAt(other, adminKey, hello, { headers })).all();
    expect(joined.map(({ event, data }) => [event, data.text ?? data.response])).toEqual([
      ["token", words],
      ["done", words],
    ]);
    expect((await waiting).data.response).toBe(words);
  });

  test("tool calls are shown, and each step has a text of its own", async () => {
    const look = {
      reply: "Let me look.",
      tool_calls: [
        { name: "perch_echo", arguments: { a: 1 } },
        { name: "nothing", arguments: {} },
      ],
    };
    const { adminKey } = await withBot([look, { reply: "Found it." }]);
    const events = await (await streamAt(perch(), adminKey, hello)).all();
    const tools = events.filter(({ event }) => event === "tool").map(({ data }) => data);
    expect(tools).toHaveLength(4);
    expect(tools).toContainEqual({ step: 1, call: 1, name: "perch_echo", status: "started", arguments: { a: 1 } });
    expect(tools).toContainEqual({ step: 1, call: 1, name: "perch_echo", status: "completed" });
    expect(tools).toContainEqual({ step: 1, call: 2, name: "nothing", status: "failed" });
    expect(tokensOf(events).map(({ data }) => [data.step, data.offset, data.text])).toEqual([
      [1, 0, "Let me look."],
      [2, 0, "Found it."],
    ]);
    expect(events.at(-1)?.data.response).toBe("Found it.");
  });

  test("a run that fails or is cancelled ends with an error event", async () => {
    const organisation = await withBot([{ fail: "for good", reply: "No." }]);
    const failed = await (await streamAt(perch(), organisation.adminKey, hello)).all();
    expect(failed).toMatchObject([{ event: "error", data: { code: "server_error", message: "No." } }]);
    ok(
      await organisation.call("PATCH /v1/agents/{agent_id}", {
        params: { agent_id: "bot" },
        body: { instructions: JSON.stringify({ steps: [{ fail: "once more" }] }) },
      }),
    );
    const stream = await streamAt(perch(), organisation.adminKey, hello);
    const request_id = stream.headers.get("location")?.split("/").at(-1) ?? "";
    const params = { agent_id: "bot", request_id };
    ok(await organisation.call("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", { params }));
    expect((await stream.all()).at(-1)).toMatchObject({ event: "error", data: { code: "conflict", request_id } });
  });

  test("what is refused before it runs is refused in JSON, with its status", async () => {
    const { adminKey } = await withBot();
    for (const [agent, body, status] of [
      ["nobody", hello, 404],
      ["bot", {}, 400],
    ] as const) {
      const stream = await streamAt(perch(), adminKey, body, { agent });
      expect(stream.status).toBe(status);
      expect(stream.headers.get("content-type")).toContain("application/json");
    }
    const foreign = await perch().newOrganisation();
    const stream = await streamAt(perch(), adminKey, hello);
    const other = await followAt(perch(), foreign.adminKey, stream.headers.get("location") ?? "");
    expect(other.status).toBe(404);
    await stream.all();
  });

  test("JSON stays what a client gets that does not ask for events", async () => {
    const { adminKey } = await withBot([{ reply: "hi" }]);
    const { status, data } = await invokeAt(perch(), adminKey, hello, { headers: { accept: "application/json, */*" } });
    expect([status, data.response]).toEqual([200, "hi"]);
  });
});

test("a retry that outlived its agent gets the first answer, though another agent has the name now", async () => {
  const organisation = await withBot([{ reply: "first" }]);
  const headers = { "idempotency-key": "k" };
  await (await streamAt(perch(), organisation.adminKey, hello, { headers })).all();
  ok(await organisation.call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
  await scripted(organisation, [{ reply: "second" }]);
  const again = await (await streamAt(perch(), organisation.adminKey, hello, { headers })).all();
  expect(again.at(-1)).toMatchObject({ event: "done", data: { response: "first" } });
});
