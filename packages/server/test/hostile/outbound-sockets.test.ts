import { setTimeout as sleep } from "node:timers/promises";
import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { closeCoreStep, composeCore } from "../../src/compose/core.ts";
import { composeWorker } from "../../src/compose/worker.ts";
import { actFor } from "../../src/fairness/acting-organisation.ts";
import { createShare, type Share } from "../../src/fairness/shares.ts";
import { TransientToolError } from "../../src/outbound/tools/tool-errors.ts";
import { createTools } from "../../src/outbound/tools/tools.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { shutDown } from "../../src/platform/shutdown.ts";
import { ok } from "../support/contract-client.ts";
import {
  closeAll,
  createTestClient,
  loopback,
  rejectionReason,
  replyHello,
  startTestServer,
} from "../support/guarded-client-servers.ts";
import { startPerch } from "../support/harness.ts";
import { invokeAgent } from "../support/invoke-calls.ts";
import { listRunLogEntries } from "../support/log-calls.ts";
import { noSecrets } from "../support/no-secrets.ts";

/** An organisation may have 5 of 10 calls under way. */
const createTestShare = (): Share =>
  createShare({
    name: "outboundCalls",
    tierOf: () => "enterprise",
    onRefused: () => undefined,
    total: 10,
    maxWaitMs: 300,
  });

describe("a guarded client", () => {
  afterEach(closeAll);

  test("one organisation's calls to a server that never answers leave another the connections it needs", async () => {
    const share = createTestShare();
    const { fetch } = createTestClient({ allowedRanges: loopback, share });
    let arrived = 0;
    const silent = await startTestServer(() => arrived++);
    const quick = await startTestServer(replyHello);
    const calls = Array.from({ length: 20 }, () => rejectionReason(actFor("attacker", () => fetch(silent.url))));
    const answer = await actFor("victim", () => fetch(quick.url));
    expect(await answer.text()).toBe("hello");
    const refused = await Promise.all(calls.slice(5));
    await expect.poll(() => arrived).toBe(5);
    expect(refused.map(String)).toEqual(
      refused.map(() => expect.stringMatching(/OutboundBusyError: .*too many calls to other servers.*5 at once/)),
    );
    await closeAll();
    await Promise.all(calls);
    expect(share.held()).toBe(0);
  });

  test("a call counts until its body has ended, was cancelled, timed out or was aborted", async () => {
    const share = createTestShare();
    const { fetch } = createTestClient({ allowedRanges: loopback, share, timeoutMs: 400 });
    const { url } = await startTestServer((request, reply) => {
      if (request.url === "/whole") reply.end("hello");
      else if (request.url === "/begun") reply.write("so far");
    });
    const call = (path: string, init?: RequestInit) => actFor("one", () => fetch(`${url}${path}`, init));
    const whole = await call("whole");
    expect(share.held()).toBe(1);
    await whole.text();
    expect(share.held()).toBe(0);
    await (await call("begun")).body?.cancel();
    expect(share.held()).toBe(0);
    const aborting = new AbortController();
    const aborted = call("never", { signal: aborting.signal });
    setTimeout(() => aborting.abort(new Error("enough")), 50);
    expect(await rejectionReason(aborted)).toMatchObject({ message: "enough" });
    expect(share.held()).toBe(0);
    // The caller does not read this body, so the time limit ends it.
    await call("begun");
    expect(share.held()).toBe(1);
    await sleep(500);
    expect(share.held()).toBe(0);
    await rejectionReason(actFor("one", () => fetch("http://10.0.0.1/")));
    expect(share.held()).toBe(0);
  });

  test("a caller that gives up waiting for a call occupies nothing", async () => {
    const share = createTestShare();
    const { fetch } = createTestClient({ allowedRanges: loopback, share });
    const { url } = await startTestServer(() => undefined);
    const held = Array.from({ length: 5 }, () => share.take("one"));
    const aborting = new AbortController();
    const waiting = actFor("one", () => fetch(url, { signal: aborting.signal }));
    aborting.abort(new Error("enough"));
    expect(await rejectionReason(waiting)).toMatchObject({ message: "enough" });
    for (const giveBack of held) giveBack?.();
    await sleep(10);
    expect(share.held()).toBe(0);
  });

  test("a refused call of a tool is a transient failure that shows why", async () => {
    const share = createTestShare();
    const { fetch } = createTestClient({ allowedRanges: loopback, share });
    const { call } = createTools({ ...noSecrets, fetch, version: "1" });
    for (let i = 0; i < 5; i++) share.take("one");
    const definition = { name: "search", description: "", parameters: { type: "object" as const } };
    const target = { kind: "http" as const, method: "GET" as const, url: "http://127.0.0.1:9/" };
    const context = { ...noSecrets, idempotencyKey: "1", requestId: "1", signal: AbortSignal.timeout(5000) };
    const reason = await rejectionReason(actFor("one", () => call({ definition, target }, {}, context)));
    expect(reason).toBeInstanceOf(TransientToolError);
    expect(String(reason)).toMatch(/The tool search was not called: .*too many calls to other servers/);
  });
});

describe("a run whose organisation has all its calls under way", () => {
  let engine: Awaited<ReturnType<typeof startRestate>>;
  let perch: Awaited<ReturnType<typeof startPerch>>;
  const stopWorker: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    engine = await startRestate();
    const { ingressUrls, adminUrls } = engine;
    perch = await startPerch({ ingressUrls, adminUrls, outboundAllowedPrivateRanges: ["127.0.0.0/8"], workerPort: 0 });
  });
  afterAll(async () => {
    await perch.stop();
    for (const stop of stopWorker) await stop();
    await engine.stop();
  });

  test("logs that, tries again, and completes when a call has ended", async () => {
    const service = await startToolServer(() => ({ body: { response: "here I am" } }));
    const core = composeCore(perch.server.core.config, createLogger("silent"));
    const worker = await composeWorker(core);
    stopWorker.push(() => shutDown([...worker.shutdownSteps, closeCoreStep(core)], createLogger("silent")));
    const organisation = await perch.createOrganisation();
    const body = { name: "bot", model: "perch/echo", runtime: { type: "http" as const, url: service.url } };
    ok(await organisation.call("POST /v1/agents", { body }));

    const share = core.shares.of.outboundCalls;
    const id = parsePublicId("organisation", organisation.id) ?? "";
    const held: ReturnType<Share["take"]>[] = [];
    for (let giveBack = share.take(id); giveBack; giveBack = share.take(id)) held.push(giveBack);
    expect(held.length).toBeGreaterThan(100);
    setTimeout(() => held[0]?.(), 3000);
    const { status, data } = await invokeAgent(perch, organisation.adminKey, { message: "hi" });
    expect({ status, response: data.response }).toEqual({ status: 200, response: "here I am" });
    const lines = await listRunLogEntries(organisation, data.request_id);
    expect(JSON.stringify(lines)).toMatch(/was not called: .*too many calls to other servers under way/);
    // The answer was read to its end, so the run occupies nothing any more.
    expect(share.held()).toBe(held.length - 1);
    for (const giveBack of held) giveBack?.();
    await service.close();
  });
});
