import { setTimeout as sleep } from "node:timers/promises";
import { installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { freePort, runCommand, startWorker, type WorkerProcess } from "@perch/testkit/installation/server-process.ts";
import { lastUserMessage, type ScriptServer, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEngineAdmin } from "../../src/engine/engine-admin.ts";
import { retireOldReleases } from "../../src/engine/retire-release.ts";
import { countRunsWithoutWorkers } from "../../src/engine/worker-registration.ts";
import { type Organisation, startPerch } from "../support/harness.ts";
import { createScriptedAgent, type InvokeResponse, invokeAgent } from "../support/invoke-calls.ts";

/** Releases of the same code under different names. Each asks a model server of its own, which shows where a step was executed. */
type Release = "a" | "b";

const held = new Map<string, PromiseWithResolvers<void>>();
/** The second step of runs whose message begins with `hold` waits until it is released. */
const gateOf = (message: string): PromiseWithResolvers<void> => {
  const gate = held.get(message) ?? Promise.withResolvers<void>();
  held.set(message, gate);
  return gate;
};
const letGo = (...messages: string[]) => {
  for (const message of messages) gateOf(message).resolve();
};

const startModel = () =>
  startScriptServer(async (call) => {
    const message = lastUserMessage(call);
    if (!message.startsWith("hold")) return { reply: "at once" };
    if (message.startsWith("hold from the start")) await gateOf(message).promise;
    else if (call.step === 1) return { tool_calls: [{ name: "perch_echo", arguments: {} }] };
    await gateOf(message).promise;
    return { reply: `done: ${message}` };
  });

let engine: RestateCluster;
let perch: Awaited<ReturnType<typeof startPerch>>;
let organisation: Organisation;
let models: Readonly<Record<Release, ScriptServer>>;
let port: number;
const workers = new Set<WorkerProcess>();

const stepsAt = (release: Release, message: string): number[] =>
  models[release].calls.filter((call) => lastUserMessage(call) === message).map(({ step }) => step);

const settingsOf = (release: Release): NodeJS.ProcessEnv => ({
  PERCH_RELEASE: release,
  ...installationSettings({
    valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
    engine,
    masterKey: perch.server.core.config.masterKey.toString("base64"),
  }),
  PERCH_SCRIPT_MODEL_URL: models[release].url,
  PERCH_LOG_LEVEL: "silent",
});

const readReady = (at: number): Promise<unknown> =>
  fetch(`http://127.0.0.1:${at}/readyz`).then(
    async (response) => ((await response.json()) as { readonly data: unknown }).data,
    () => undefined,
  );

async function startRelease(release: Release, at = port): Promise<WorkerProcess> {
  const worker = await startWorker(perch.database, { ...settingsOf(release), PERCH_WORKER_PORT: String(at) });
  workers.add(worker);
  // Registered, or known not to be the active release: until then it does not know its turn.
  await expect.poll(() => readReady(at), { timeout: 30_000 }).toMatchObject({ release, turn: turnOf(release) });
  return worker;
}

async function end(worker: WorkerProcess, signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
  await worker.end(signal);
  workers.delete(worker);
}

const command = (release: Release, ...args: string[]) => runCommand(perch.database, args, settingsOf(release));
let active: { readonly release: Release; readonly turn: number } | undefined;
const turnOf = (release: Release): number | null => (active?.release === release ? active.turn : null);

async function activate(release: Release): Promise<string> {
  const output = await command(release, "activate-release");
  active = { release, turn: Number(/in turn (\d+)/.exec(output)?.[1]) };
  return output;
}

const invoke = (message: string, session?: string): Promise<InvokeResponse> =>
  invokeAgent(perch, organisation.adminKey, { message, ...(session && { context: { session_id: session } }) });

/** Runs that have executed their first step, and whose second waits at the model. */
async function beginHeld(release: Release, ...messages: string[]): Promise<Promise<InvokeResponse>[]> {
  const answers = messages.map((message, i) => invoke(message, i % 2 === 0 ? undefined : `session of ${message}`));
  for (const message of messages)
    await expect.poll(() => stepsAt(release, message), { timeout: 20_000 }).toEqual([1, 2]);
  return answers;
}

interface Listed {
  readonly release: string;
  readonly turn: number;
  readonly runs: number;
  readonly state: string;
  readonly id: string;
}

/** Until nothing but these runs is bound: housekeeping that is killed with its worker counts as well, and waits for that release. */
const waitForBound = (runs: number): Promise<void> =>
  expect
    .poll(
      async () => [...(await createEngineAdmin(engine.adminUrls).countBound()).values()].reduce((a, b) => a + b, 0),
      {
        timeout: 20_000,
      },
    )
    .toBe(runs);

const countUnserved = async (): Promise<number> => {
  const admin = createEngineAdmin(engine.adminUrls);
  return countRunsWithoutWorkers(admin, await admin.listDeployments());
};

const listReleases = async (): Promise<Listed[]> =>
  (await command("a", "releases", "--json")).split("\n").map((line) => JSON.parse(line) as Listed);

beforeAll(async () => {
  engine = await startRestate();
  perch = await startPerch({ ingressUrls: engine.ingressUrls, valkeyUrl: serviceUrl("PERCH_VALKEY_URL") });
  models = { a: await startModel(), b: await startModel() };
  organisation = await perch.createOrganisation();
  await createScriptedAgent(organisation);
  port = await freePort();
}, 60_000);
afterAll(async () => {
  for (const worker of workers) await worker.end("SIGKILL");
  for (const model of Object.values(models)) await model.close();
  await perch.stop();
  await engine.stop();
});

describe("releases of workers", () => {
  test("A, B, A on one host and port: every run ends on the release on which it began", async () => {
    await activate("a");
    let worker = await startRelease("a");
    const ofA = await beginHeld("a", "hold 1", "hold 2 in a session");
    await waitForBound(2);
    await end(worker);
    await activate("b");
    worker = await startRelease("b");
    const ofB = await beginHeld("b", "hold 3", "hold 4 in a session");
    await waitForBound(4);
    // Those of A, although a worker answers at their address.
    expect(await countUnserved()).toBe(2);
    // B listens at A's address, and the engine continues to try A's runs there.
    await sleep(1000);
    await end(worker);
    await activate("a");
    worker = await startRelease("a");
    letGo("hold 1", "hold 2 in a session", "hold 3", "hold 4 in a session");
    const ofSecondA = await beginHeld("a", "hold 5", "hold 6 in a session");
    letGo("hold 5", "hold 6 in a session");
    const endedOnA = await Promise.all([...ofA, ...ofSecondA]);
    expect(endedOnA.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await end(worker);
    // A restart of a release that is not active takes no new runs, but ends its own.
    worker = await startRelease("b");
    expect((await Promise.all(ofB)).map(({ status }) => status)).toEqual([200, 200]);
    await expect.poll(countUnserved).toBe(0);
    for (const message of ["hold 1", "hold 2 in a session", "hold 5", "hold 6 in a session"])
      expect(stepsAt("b", message)).toEqual([]);
    for (const message of ["hold 3", "hold 4 in a session"]) expect(stepsAt("a", message)).toEqual([]);
    const later = invoke("after the restart of b");
    await sleep(1500);
    expect(stepsAt("b", "after the restart of b")).toEqual([]);
    await end(worker);
    await startRelease("a");
    expect((await later).data.response).toBe("at once");
    expect(stepsAt("a", "after the restart of b")).toEqual([1]);
  }, 120_000);

  test("a release is retired only when it takes no new runs and none is left, and the list shows that", async () => {
    const states = async () => (await listReleases()).map(({ release, turn, state }) => [release, turn, state]);
    expect(await states()).toEqual([
      ["a", 4, "takes new runs"],
      ["b", 3, expect.stringMatching(/can be retired|superseded/)],
      ["a", 2, expect.stringMatching(/can be retired|superseded/)],
    ]);
    const [current, ofB] = await listReleases();
    await expect(command("a", "retire", "--id", current?.id ?? "")).rejects.toThrow("It takes new runs.");
    await expect(command("a", "retire", "--id", "dp_unknown")).rejects.toThrow("knows no address dp_unknown");
    const [answer] = await beginHeld("a", "hold while b is activated");
    const second = await freePort();
    await activate("b");
    const worker = await startRelease("b", second);
    const ofA = (await listReleases()).find(({ turn }) => turn === 4);
    expect(ofA).toMatchObject({ runs: 1, state: "ends its runs" });
    await expect(command("a", "retire", "--id", ofA?.id ?? "")).rejects.toThrow("1 of its runs have not ended");
    letGo("hold while b is activated");
    expect((await answer)?.status).toBe(200);
    await expect(command("a", "retire", "--id", ofA?.id ?? "")).rejects.toThrow("Another release took over just now.");
    // Housekeeping retires it a day later: not before, and not the release that takes new runs.
    const admin = createEngineAdmin(engine.adminUrls);
    const turns = [5, 4, 3, 2].map((turn) => ({ turn, activatedAt: new Date() }));
    const dayMs = 86_400_000;
    expect(await retireOldReleases({ admin, turns, nowMs: Date.now() + dayMs - 60_000 })).toEqual([]);
    expect(await retireOldReleases({ admin, turns, nowMs: Date.now() + dayMs + 60_000 })).toHaveLength(3);
    expect(await states()).toEqual([["b", 5, "takes new runs"]]);
    await expect(command("a", "retire", "--id", ofB?.id ?? "")).rejects.toThrow("knows no address");
    await end(worker);
  }, 60_000);

  test("a second server of the release on another port takes new runs, and gives them back when it is gone", async () => {
    await activate("a");
    for (const worker of workers) await end(worker);
    const first = await startRelease("a");
    const second = await startRelease("a", await freePort());
    expect((await invoke("with two servers")).status).toBe(200);
    const [begun] = await beginHeld("a", "hold at the second server");
    await end(second);
    letGo("hold at the second server");
    // Both the run that had begun there and one that is sent there in vain are moved to the first server.
    const answers = await Promise.all([begun, invoke("with one server")]);
    expect(answers.map((answer) => answer?.status)).toEqual([200, 200]);
    await end(first);
  }, 90_000);

  test("a worker that is stopped ends its runs first if another release is active, and stops at once if not", async () => {
    const first = await startRelease("a");
    const [resumed] = await beginHeld("a", "hold over a restart");
    const stoppedAtMs = Date.now();
    await end(first, "SIGTERM");
    expect(Date.now() - stoppedAtMs).toBeLessThan(12_000);
    const second = await startRelease("a");
    letGo("hold over a restart");
    expect((await resumed)?.status).toBe(200);
    const [drained] = await beginHeld("a", "hold over an upgrade");
    await activate("b");
    const ended = end(second, "SIGTERM");
    expect(await Promise.race([ended.then(() => "stopped"), sleep(3000).then(() => "waits")])).toBe("waits");
    letGo("hold over an upgrade");
    expect((await drained)?.status).toBe(200);
    await ended;
    expect(stepsAt("a", "hold over an upgrade")).toEqual([1, 2]);
  }, 60_000);

  test("a run in its first step, with nothing journaled yet, counts too", async () => {
    await activate("a");
    const first = await startRelease("a");
    const message = "hold from the start";
    const answer = invoke(message);
    await expect.poll(() => stepsAt("a", message)).toEqual([1]);
    await activate("b");
    const second = await startRelease("b", await freePort());
    const ofA = (await listReleases()).find(({ release, runs }) => release === "a" && runs > 0);
    expect(ofA).toMatchObject({ runs: 1, state: "ends its runs" });
    const ended = end(first, "SIGTERM");
    expect(await Promise.race([ended.then(() => "stopped"), sleep(4000).then(() => "waits")])).toBe("waits");
    letGo(message);
    expect((await answer).status).toBe(200);
    await ended;
    expect(stepsAt("a", message)).toEqual([1]);
    expect(stepsAt("b", message)).toEqual([]);
    await end(second);
  }, 60_000);
});

test("activating a release that is active, and migrating again, change nothing", async () => {
  const before = await activate("b");
  expect(before).toContain("was active already");
  expect(await command("b", "migrate")).toBe("The database is up to date.");
  expect(await activate("b")).toBe(before);
});
