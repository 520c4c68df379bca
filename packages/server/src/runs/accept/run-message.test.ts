import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { deploy, invokeForReply, setDraftReply } from "../../../test/support/deployment-calls.ts";
import { type Organisation, startPerch } from "../../../test/support/harness.ts";
import { createScriptedAgent, invokeAgent } from "../../../test/support/invoke-calls.ts";
import { composeWorker } from "../../compose/worker.ts";
import type { RunInput, RunMessage, RunOutcome } from "../../engine/messages.ts";
import { newUuid } from "../../platform/ids.ts";
import { createLogger } from "../../platform/logger.ts";
import { shutDown } from "../../platform/shutdown.ts";

/** Passes calls on to the engine, and keeps the messages that start runs. */
async function startRecordingIngress(ingressUrl: string) {
  const messages: { readonly path: string; readonly body: string }[] = [];
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? "";
    const body = await text(request);
    if (/AgentRuns|AgentSessions/.test(path)) messages.push({ path, body });
    const headers = {
      "content-type": "application/json",
      "idempotency-key": String(request.headers["idempotency-key"]),
    };
    const answer = await fetch(ingressUrl + path, { method: "POST", headers, body });
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  };
  const server = createServer((request, response) => void forward(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The messages that were sent in the meantime. */
    during: async (work: () => Promise<unknown>) => {
      const before = messages.length;
      await work();
      return messages.slice(before);
    },
    close: () => server.close(),
  };
}

let engine: RestateCluster;
let ingress: Awaited<ReturnType<typeof startRecordingIngress>>;
let perch: Awaited<ReturnType<typeof startPerch>>;
beforeAll(async () => {
  engine = await startRestate();
  ingress = await startRecordingIngress(engine.ingressUrls[0] ?? "");
  perch = await startPerch({ ingressUrls: [ingress.url], adminUrls: engine.adminUrls });
  await perch.addWorker();
}, 60_000);
afterAll(async () => {
  await perch.stop();
  ingress.close();
  await engine.stop();
});

const params = { agent_id: "bot" };
const hello = { message: "hello" };

async function createOrganisationWithLongInstructions(): Promise<Organisation> {
  const organisation = await perch.createOrganisation();
  const instructions = "Be kind. ".repeat(7000);
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo", instructions } }));
  return organisation;
}

const invoke = (organisation: Organisation, context: object = {}) =>
  invokeAgent(perch, organisation.adminKey, { ...hello, context });

describe("the message that starts a run", () => {
  test.each([
    { what: "the draft", context: { environment: "staging" } },
    { what: "a turn of a session with the draft", context: { environment: "staging", session_id: "s" } },
    { what: "the deployed version", context: {} },
    { what: "a version by name", context: { version: "v1", environment: "staging" } },
  ])("names its definition and has less than 600 bytes, however long the instructions: $what", async ({ context }) => {
    const organisation = await createOrganisationWithLongInstructions();
    await deploy(organisation, { version: "v1" });
    for (const _ of ["first", "second"]) {
      const messages = await ingress.during(async () =>
        expect((await invoke(organisation, context)).data.response).toBe("hello"),
      );
      expect(messages).toHaveLength(1);
      const { body = "" } = messages[0] ?? {};
      expect(body.length).toBeLessThan(600);
      expect(JSON.parse(body)).toMatchObject({ message: "hello", definitionDigest: expect.any(String) });
      expect(body).not.toContain("Be kind.");
    }
  });

  test("carries the definition while the draft cannot be saved, and the run completes", async () => {
    const organisation = await createOrganisationWithLongInstructions();
    const asOwner = (statement: string) => withClient(perch.database.ownerUrl, (client) => client.query(statement));
    await asOwner("revoke insert on draft_definitions from perch_app");
    const messages = await ingress.during(async () => expect((await invoke(organisation)).data.response).toBe("hello"));
    await asOwner("grant insert on draft_definitions to perch_app");
    expect(messages).toHaveLength(1);
    expect(messages[0]?.body).toContain("Be kind.");
  });
});

/** How many turns of sessions the engine has that have not ended. */
async function countOpenTurns(): Promise<number> {
  const query = "select id from sys_invocation where target_service_name = 'AgentSessions' and status <> 'completed'";
  const response = await fetch(`${engine.adminUrls[0]}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query }),
  });
  return ((await response.json()) as { rows: unknown[] }).rows.length;
}

describe("a run that waits for its turn", () => {
  test("runs the draft that it was accepted with, although the draft was changed and the agent deleted in the meantime", async () => {
    verifies("deployment.runs-under-way");
    const organisation = await perch.createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "first", delay_ms: 1500 }]);
    const context = { session_id: "s" };
    const turns: Promise<string>[] = [];
    const sent = await ingress.during(async () => {
      turns.push(invokeForReply(perch, organisation, context));
      await expect.poll(countOpenTurns).toBe(1);
      // The worker has not seen this definition when its agent is deleted.
      await setDraftReply(organisation, "accepted");
      turns.push(invokeForReply(perch, organisation, context));
      await expect.poll(countOpenTurns).toBe(2);
    });
    await setDraftReply(organisation, "changed");
    ok(await organisation.call("DELETE /v1/agents/{agent_id}", { params }));
    expect(await Promise.all(turns)).toEqual(["first", "accepted"]);
    expect(new Set(sent.map(({ body }) => (JSON.parse(body) as RunInput).definitionDigest)).size).toBe(2);
  });
});

describe("a worker", () => {
  /** Starts a run in the engine with a message of the test's own making. */
  const start = async (organisation: Organisation, change: (message: RunMessage) => object): Promise<RunOutcome> => {
    const [sent] = await ingress.during(() => invoke(organisation));
    const id = newUuid();
    const message = { ...change(JSON.parse(sent?.body ?? "") as RunMessage), id };
    const response = await fetch(`${engine.ingressUrls[0]}/AgentRuns/run`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": id },
      body: JSON.stringify(message),
    });
    return (await response.json()) as RunOutcome;
  };
  const findRecord = async (organisation: Organisation) => {
    const list = await organisation.call("GET /v1/agents/{agent_id}/invocations", { params, query: { limit: 1 } });
    return ok(list).data[0];
  };

  test("runs a message that carries its definition, as earlier releases sent it", async () => {
    const organisation = await createOrganisationWithLongInstructions();
    const { data } = ok(await organisation.call("GET /v1/agents/{agent_id}", { params }));
    const outcome = await start(organisation, ({ definitionDigest: _, ...message }) => ({
      ...message,
      definition: data,
    }));
    expect(outcome).toMatchObject({ status: "completed", response: "hello" });
  });

  test("fails and records a run whose definition the database has lost", async () => {
    const organisation = await createOrganisationWithLongInstructions();
    const definitionDigest = Buffer.alloc(32).toString("base64url");
    const outcome = await start(organisation, (message) => ({ ...message, definitionDigest }));
    const error = "The definition that this run was accepted with is no longer in the database.";
    expect(outcome).toMatchObject({ status: "failed", error, code: "server_error", retryable: true });
    expect(await findRecord(organisation)).toMatchObject({ status: "failed" });
  });

  test("in the process of the API reads no definition: the draft is written once, a deployed version is in the cache", async () => {
    const { core } = perch.server;
    const worker = await composeWorker(core);
    const callers: string[] = [];
    const { inOrganisation } = core.db;
    vi.spyOn(core.db, "inOrganisation").mockImplementation((organisationId, work) => {
      callers.push(new Error("transaction").stack ?? "");
      return inOrganisation(organisationId, work);
    });
    const organisation = await createOrganisationWithLongInstructions();
    await deploy(organisation, { version: "v1", environment: "deployed" });
    const before = callers.length;
    for (const environment of ["draft", "draft", "deployed", "deployed"])
      expect((await invoke(organisation, { environment })).status).toBe(200);
    const ofDefinitions = callers.filter((stack) => stack.includes("deployments/definitions.ts"));
    expect(ofDefinitions.map((stack) => /saveDraft|read/.exec(stack)?.[0])).toEqual(["saveDraft"]);
    expect(callers.length).toBeGreaterThan(before);
    vi.restoreAllMocks();
    await shutDown(worker.shutdownSteps, createLogger("silent"));
  });
});
