import type { LogEntry } from "@perch/contract";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { Redis } from "iovalkey";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { followRunStream, type OpenStream, type StreamEvent } from "../../../test/support/event-stream-client.ts";
import { type ApiNode, type Organisation, usePerch } from "../../../test/support/harness.ts";
import { createScriptedAgent, invokeAgent } from "../../../test/support/invoke-calls.ts";
import { getLogPage, getLogsOperation } from "../../../test/support/log-calls.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { followLogs, startFollowing } from "./follow-logs.ts";
import { createLocalLogNotifications, type LogNotification } from "./log-notifications.ts";
import { createLogReader } from "./log-reader.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
const alone = usePerch();
let other: ApiNode;
beforeAll(async () => {
  other = await perch().addApiNode();
});

async function createOrganisationWithAgent(node = perch()) {
  const organisation = await node.createOrganisation();
  await createScriptedAgent(organisation, [{ reply: "hi" }]);
  return organisation;
}
const add = async ({ call }: Organisation, message: string, rest: object = {}) =>
  ok(
    await call("POST /v1/agents/{agent_id}/logs", {
      params: { agent_id: "bot" },
      body: { entries: [{ message, ...rest }] },
    }),
  );

interface Tail extends OpenStream {
  readonly seen: StreamEvent[];
}

async function tailAt(node: { url: string }, { adminKey }: Organisation, query = ""): Promise<Tail> {
  const stream = await followRunStream(node, adminKey, `/v1/agents/bot/logs${query}`);
  expect(stream.status).toBe(200);
  onTestFinished(stream.abort);
  const seen: StreamEvent[] = [];
  void (async () => {
    for await (const event of stream.events()) seen.push(event);
  })();
  return { ...stream, seen };
}
const messagesOf = ({ seen }: Tail) => seen.map(({ data }) => data.message);
const runEntries = ["Model call: perch/script", "Run completed"];

/** A tail that has received one entry receives all later ones. */
async function waitForSubscribers(organisation: Organisation, tails: readonly Tail[], entry: object = {}) {
  await expect
    .poll(
      async () => (await add(organisation, "ready?", entry)) && tails.filter(({ seen }) => seen.length === 0).length,
      {
        timeout: 10_000,
        interval: 200,
      },
    )
    .toBe(0);
}

describe(`${getLogsOperation} with Accept: text/event-stream`, () => {
  test("the entries of a run arrive within a second of its end, on another node than the one it was started on", async () => {
    const organisation = await createOrganisationWithAgent();
    const tail = await tailAt(other, organisation);
    expect(tail.headers.get("content-type")).toContain("text/event-stream");
    await waitForSubscribers(organisation, [tail]);
    const { data } = await invokeAgent(perch(), organisation.adminKey, { message: "hello" });
    const endedAt = performance.now();
    await expect.poll(() => messagesOf(tail), { interval: 5 }).toEqual(expect.arrayContaining(runEntries));
    expect(performance.now() - endedAt).toBeLessThan(1000);
    const events = tail.seen.filter(({ data: { message } }) => message !== "ready?");
    expect(events.map(({ event }) => event)).toEqual(["log", "log"]);
    // The same entries, in the order they happened, as the log has them.
    const logged = (await getLogPage(organisation, { request_id: data.request_id })).data.toReversed();
    expect(events.map((event) => event.data)).toEqual(logged);
    expect(new Set(events.map(({ id }) => id)).size).toBe(2);
  });

  test("added entries arrive too, and none of another agent", async () => {
    const organisation = await createOrganisationWithAgent();
    const otherOrganisation = await createOrganisationWithAgent();
    const tail = await tailAt(other, organisation);
    await waitForSubscribers(organisation, [tail]);
    await add(otherOrganisation, "theirs");
    await add(organisation, "mine", { level: "error", metadata: { a: 1 } });
    await expect.poll(() => messagesOf(tail)).toContain("mine");
    expect(messagesOf(tail)).not.toContain("theirs");
    expect(tail.seen.at(-1)?.data).toMatchObject({ level: "error", metadata: { a: 1, request_id: null } });
  });

  test.each([
    ["?level=error", { level: "error" }],
    ["?contains=NEEDLE", {}],
    ["?environment=staging", { metadata: { environment: "staging" } }],
    ["?version=v2", { metadata: { version: "v2" } }],
    ["?request_id=req_01h455vb4pex5vsknk084sn02q", { request_id: "req_01h455vb4pex5vsknk084sn02q" }],
  ])("%s: only matching entries arrive, as in the list", async (query, wanted) => {
    const organisation = await createOrganisationWithAgent();
    const tail = await tailAt(other, organisation, query);
    const everything = await tailAt(other, organisation);
    await waitForSubscribers(organisation, [tail, everything], { message: "a needle?", ...wanted });
    await add(organisation, "hay");
    await add(organisation, "hay", { level: "warn", metadata: { environment: "production", version: "v1" } });
    await add(organisation, "last needle", wanted);
    await expect.poll(() => messagesOf(tail)).toContain("last needle");
    await expect.poll(() => messagesOf(everything)).toContain("last needle");
    expect(messagesOf(tail)).not.toContain("hay");
    expect(messagesOf(everything).filter((message) => message === "hay")).toHaveLength(2);
    const { data } = await getLogPage(organisation, Object.fromEntries(new URLSearchParams(query)));
    expect(new Set(data.map(({ message }) => message))).toEqual(new Set(["a needle?", "last needle"]));
  });

  test("refusals are JSON", async () => {
    const { adminKey } = await createOrganisationWithAgent();
    for (const [path, status] of [
      ["/v1/agents/nobody/logs", 404],
      ["/v1/agents/bot/logs?level=fatal", 400],
    ] as const) {
      const stream = await followRunStream(perch(), adminKey, path);
      expect(stream.status).toBe(status);
      expect(stream.headers.get("content-type")).toContain("application/json");
    }
    const otherOrganisation = await createOrganisationWithAgent();
    const { id } = ok(await otherOrganisation.call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } })).data;
    expect((await followRunStream(perch(), adminKey, `/v1/agents/${id}/logs`)).status).toBe(404);
  });
});

test("500 tails of one node all get every entry of a run, and no subscription remains when they are closed", async () => {
  const valkey = new Redis(serviceUrl("PERCH_VALKEY_URL"));
  onTestFinished(() => void valkey.disconnect());
  const organisation = await createOrganisationWithAgent();
  const { id } = ok(await organisation.call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } })).data;
  const channel = `perch:logs:${parsePublicId("agent", id)}`;
  const listeners = async () => (await valkey.pubsub("NUMSUB", channel))[1];
  const tails = await Promise.all(Array.from({ length: 500 }, () => tailAt(other, organisation)));
  // One subscription for all of them.
  await expect.poll(listeners).toBe(1);
  await waitForSubscribers(organisation, tails);
  const { data } = await invokeAgent(perch(), organisation.adminKey, { message: "hello" });
  const endedAt = performance.now();
  const entriesOf = ({ seen }: Tail) =>
    seen.map((event) => event.data as unknown as LogEntry).filter(({ metadata }) => metadata.request_id !== null);
  const isMissing = (tail: Tail) => entriesOf(tail).length < runEntries.length;
  await expect.poll(() => tails.filter(isMissing).length, { interval: 10 }).toBe(0);
  const allHaveItAfterMs = performance.now() - endedAt;
  expect(allHaveItAfterMs).toBeLessThan(2000);
  for (const tail of tails) {
    expect(entriesOf(tail).map(({ message }) => message)).toEqual(runEntries);
    expect(entriesOf(tail)[0]?.metadata.request_id).toBe(data.request_id);
  }
  for (const tail of tails) tail.abort();
  await expect.poll(listeners).toBe(0);
}, 60_000);

describe("without a gap", () => {
  test("with start_time the stream begins with the entries since then, and with those of runs that ended since then", async () => {
    const organisation = await createOrganisationWithAgent();
    await add(organisation, "before", { timestamp: new Date(Date.now() - 60_000).toISOString() });
    const { data } = await invokeAgent(perch(), organisation.adminKey, { message: "hello" });
    await expect
      .poll(async () => (await getLogPage(organisation, { request_id: data.request_id })).data.length)
      .toBe(runEntries.length);
    await add(organisation, "since");
    const [ended] = (await getLogPage(organisation, { request_id: data.request_id })).data;
    const tail = await tailAt(other, organisation, `?start_time=${ended?.timestamp}`);
    await expect.poll(() => messagesOf(tail)).toEqual([...runEntries, "since"]);
    await add(organisation, "new");
    await expect.poll(() => messagesOf(tail)).toEqual([...runEntries, "since", "new"]);
    const ids = (await getLogPage(organisation)).data.toReversed().map(({ id }) => id);
    expect(tail.seen.map(({ data: entry }) => entry.id)).toEqual(ids.slice(1));
  });

  test("entries whose notification was missed arrive once it is known, and none arrives twice", async () => {
    const organisation = await createOrganisationWithAgent(alone());
    const { id } = ok(await organisation.call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } })).data;
    const agent = {
      organisationId: parsePublicId("organisation", organisation.id) ?? "",
      agentId: parsePublicId("agent", id) ?? "",
    };
    let notify: (notification?: LogNotification) => void = () => undefined;
    const logNotifications = {
      ...createLocalLogNotifications(),
      listen: (_: string, onNotification: typeof notify) => {
        notify = onNotification;
        return () => undefined;
      },
    };
    const { db, shares } = alone().server.core;
    const { logSearches } = shares.of;
    const deps = { logReader: createLogReader(db), logNotifications, logSearches, now: Date.now };
    await add(organisation, "before");
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const start = await startFollowing(deps, agent, undefined);
    const events = followLogs(deps, { ...agent, from: new Date(0), until: new Date() }, start, stop.signal);
    const seen: unknown[] = [];
    void (async () => {
      for await (const event of events) if ("data" in event) seen.push((event.data as LogEntry).message);
    })();
    for (const message of ["same", "same", "same"]) await add(organisation, message);
    notify();
    await expect.poll(() => seen).toEqual(["same", "same", "same"]);
    notify();
    await add(organisation, "last");
    notify();
    await expect.poll(() => seen).toEqual(["same", "same", "same", "last"]);
  });
});

describe("without Valkey", () => {
  test("a single process delivers added entries to its own followers", async () => {
    const organisation = await createOrganisationWithAgent(alone());
    const tail = await tailAt(alone(), organisation);
    await waitForSubscribers(organisation, [tail]);
    await add(organisation, "here");
    await expect.poll(() => messagesOf(tail)).toContain("here");
  });

  test("a follower that unsubscribes gets no more notifications, whether or not an entry is pending", async () => {
    const received: string[] = [];
    const notifications = createLocalLogNotifications();
    const unsubscribe = notifications.listen("a", () => received.push("first"));
    notifications.listen("a", () => received.push("second"));
    notifications.listen("b", () => received.push("other"));
    notifications.publish("a", { run: "r" });
    unsubscribe();
    notifications.publish("a", { run: "r" });
    notifications.publish("nobody", { run: "r" });
    expect(received).toEqual(["first", "second", "second"]);

    let listening = 0;
    const counted = {
      ...notifications,
      listen: (...args: Parameters<typeof notifications.listen>) => {
        listening++;
        const stop = notifications.listen(...args);
        return () => {
          listening--;
          stop();
        };
      },
    };
    const organisationId = crypto.randomUUID();
    const filter = { organisationId, agentId: "a", from: new Date(0), until: new Date() };
    const stop = new AbortController();
    const logReader = createLogReader(alone().server.core.db);
    const events = followLogs(
      { logReader, logNotifications: counted, logSearches: alone().server.core.shares.of.logSearches, now: Date.now },
      filter,
      { from: new Date(), known: [], readUntilMs: Date.now() },
      stop.signal,
    );
    expect(await events.next()).toMatchObject({ value: { comment: expect.stringMatching(/^complete until /) } });
    const next = events.next();
    expect(listening).toBe(1);
    stop.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(listening).toBe(0);
  });
});
