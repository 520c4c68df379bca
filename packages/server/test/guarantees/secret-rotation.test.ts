import { setTimeout as sleep } from "node:timers/promises";
import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, expect, test } from "vitest";
import { closeCoreStep, composeCore } from "../../src/compose/core.ts";
import { composeWorker } from "../../src/compose/worker.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { shutDown } from "../../src/platform/shutdown.ts";
import { ok } from "../support/contract-client.ts";
import { startApi, startPerch } from "../support/harness.ts";
import { createSecret } from "../support/secret-calls.ts";
import { bearer, callThenQuote, callTool, createAgentWithTools, hostOf, httpTool } from "../support/secret-runs.ts";

/** How long the tool accepts the value before, as a key that is being rotated is accepted. */
const overlapMs = 5000;
const rotations = 2;
const loopsPerNode = 4;

/** When the model's answer to a run was sent: its tool call begins after that. */
const answeredAt = new Map<string, number>();
const script = await startScriptServer((call) => {
  if (call.step === 1) answeredAt.set(call.request_id, performance.now());
  return callThenQuote(call);
});

/** Until when each value is accepted. */
const acceptedUntil = new Map<string, number>();
const seen: { readonly value: string; readonly requestId: string }[] = [];
const tool = await startToolServer(({ headers }) => {
  const value = String(headers.authorization).replace("Bearer ", "");
  seen.push({ value, requestId: String(headers["x-request-id"]) });
  const isAccepted = performance.now() < (acceptedUntil.get(value) ?? 0);
  return isAccepted ? { body: "well" } : { status: 401, body: "Who are you?" };
});

const logger = createLogger("silent");
const first = await startPerch(
  { scriptModelUrl: script.url, outboundAllowedPrivateRanges: ["127.0.0.0/8"] },
  { withWorker: true },
);
/** A second API node with an engine and a worker of its own. Only the database connects the two workers. */
const engine = await startRestate();
const { ingressUrls, adminUrls } = engine;
const config = { ...first.server.core.config, ingressUrls, adminUrls, workerPort: 0 };
const api = await startApi(config, logger);
const second = { url: await api.app.listen({ host: "127.0.0.1", port: 0 }) };
const workerCore = composeCore(config, logger);
const worker = await composeWorker(workerCore);
afterAll(async () => {
  await shutDown(api.shutdownSteps, logger);
  await shutDown([...worker.shutdownSteps, closeCoreStep(workerCore)], logger);
  await first.stop();
  await engine.stop();
  await Promise.all([script.close(), tool.close()]);
});

test("a rotation under load fails no call, and no step that begins after it sends the old value", {
  timeout: 120_000,
}, async () => {
  verifies("secrets.rotation");
  const organisation = await first.createOrganisation();
  const valueNumber = (rotation: number) => `value-number-${rotation}`;
  acceptedUntil.set(valueNumber(0), Number.POSITIVE_INFINITY);
  await createSecret(organisation, { value: valueNumber(0), hosts: [hostOf(tool.url)] });
  await createAgentWithTools(organisation, [httpTool(tool.url, { headers: bearer })]);

  const countOf = (rotation: number) => seen.filter(({ value }) => value === valueNumber(rotation)).length;
  let isOver = false;
  const results = new Map<string, number>();
  const loop = async (node: { readonly url: string }) => {
    while (!isOver) {
      const result = await callTool(node, organisation);
      results.set(result, (results.get(result) ?? 0) + 1);
    }
  };
  const load = [first, second].flatMap((node) => Array.from({ length: loopsPerNode }, () => loop(node)));

  const changedAt: number[] = [];
  for (let rotation = 1; rotation <= rotations; rotation++) {
    await expect.poll(() => countOf(rotation - 1)).toBeGreaterThan(loopsPerNode);
    acceptedUntil.set(valueNumber(rotation), Number.POSITIVE_INFINITY);
    const params = { secret_name: "github_token" };
    const body = { value: valueNumber(rotation) };
    ok(await organisation.call("PATCH /v1/secrets/{secret_name}", { params, body }));
    changedAt.push(performance.now());
    acceptedUntil.set(valueNumber(rotation - 1), performance.now() + overlapMs);
    await sleep(overlapMs + 1000);
  }
  isOver = true;
  await Promise.all(load);

  expect([...results.keys()]).toEqual(["well"]);
  const late = seen.filter(({ value, requestId }) => {
    const changed = changedAt[Number(value.replace("value-number-", ""))];
    return changed !== undefined && (answeredAt.get(requestId) ?? 0) > changed;
  });
  expect(late).toEqual([]);
  const counts = Array.from({ length: rotations + 1 }, (_, rotation) => countOf(rotation));
  console.log(`rotation: ${results.get("well")} runs, calls by value: ${counts.join(", ")}`);
  for (const count of counts) expect(count).toBeGreaterThan(loopsPerNode);
});
