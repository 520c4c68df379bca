import type { AgentDefinitionPatch } from "@perch/contract";
import { accountClients, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { startMcpServer } from "@perch/testkit/servers/mcp-server.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { sql } from "kysely";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { parsePublicId, toPublicId } from "../../src/platform/ids.ts";
import { createRepairLostRuns } from "../../src/runs/record/lost-runs.ts";
import { expectError, ok } from "../support/contract-client.ts";
import { decide, waitForApprovals } from "../support/decisions.ts";
import { deploy } from "../support/deployment-calls.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { invokeAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";
import { createSecret } from "../support/secret-calls.ts";
import { bearer, hostOf } from "../support/secret-runs.ts";
import { insertRuns } from "../support/stored-runs.ts";

/** Attacks of docs/security/approvals.md on settings that ask for approval, by keys that may write versions. */
const bank = await startToolServer(() => ({ body: { paid: true } }));
const files = await startMcpServer();
const remote = await startToolServer(() => ({ body: { response: "remote" } }));
const provider = await startAccountProvider({ perch: [] });
afterAll(() => Promise.all([bank.close(), files.close(), remote.close(), provider.stop()]));
beforeEach(() => {
  for (const { calls } of [bank, files, remote]) calls.length = 0;
});

const perch = usePerch(
  { outboundAllowedPrivateRanges: ["127.0.0.0/8"], valkeyUrl: serviceUrl("PERCH_VALKEY_URL") },
  { withWorker: true },
);

type Tool = NonNullable<AgentDefinitionPatch["tools"]>[number];
type HttpTool = Extract<Tool, { type: "http" }>;
const params = { agent_id: "bot" };
const patchAgent = "PATCH /v1/agents/{agent_id}";

const refund = (change: Partial<HttpTool> = {}): HttpTool => ({
  ...{ type: "http", name: "refund", description: "Pays money back.", method: "POST", url: bank.url },
  parameters: { type: "object" },
  ...change,
});
const orders = (change: object = {}): Tool => ({ type: "mcp", name: "orders", url: files.url, ...change });

interface Attacked extends Organisation {
  readonly writeKey: string;
  /** May decide too, and starts its runs itself. */
  readonly deciderKey: string;
}

/** An agent whose model calls this tool with these arguments, and then says "done". */
async function createAgent(
  tools: Tool[],
  security: NonNullable<AgentDefinitionPatch["security"]> = {},
  call = { name: "refund", arguments: {} as object },
): Promise<Attacked> {
  const organisation = await perch().createOrganisation();
  const instructions = JSON.stringify({ steps: [{ tool_calls: [call] }, { reply: "done" }] });
  const body = { name: "bot", model: "perch/script", instructions, tools, security };
  ok(await organisation.call("POST /v1/agents", { body }));
  const writeKey = await organisation.createKey({ permissions: ["read", "write"] });
  const deciderKey = await organisation.createKey({ permissions: ["read", "write", "approve"] });
  return { ...organisation, writeKey, deciderKey };
}

const callAdd = { name: "orders_add", arguments: { a: 2, b: 3 } };

/** Without the requests with which a deployment checks that the address answers. */
const callsMade = () => [...bank.calls.filter(({ method }) => method !== "OPTIONS"), ...files.calls];

/** Invokes with the key that writes, and returns the one approval that the run waits for. */
async function expectWaiting(organisation: Attacked, context: object = {}, key = organisation.writeKey) {
  const { error, text } = await invokeAgent(perch(), key, { message: "go", context });
  expect(error?.code, text).toBe("action_required");
  const detail = (name: string) => error.details?.find(({ field }) => field === name)?.error ?? "";
  const run = detail("request_id");
  const [approval] = await waitForApprovals(perch(), organisation, run);
  expect(callsMade()).toEqual([]);
  return { run, approval, id: detail("approval_id") };
}

const expectDone = async (organisation: Attacked, context: object = {}): Promise<void> => {
  const { data, text } = await invokeAgent(perch(), organisation.writeKey, { message: "go", context });
  expect(data?.response, text).toBe("done");
};

/** What the model was told of its one call. */
async function failureOfCall(organisation: Attacked): Promise<string> {
  ok(await patch(organisation, { logs: "full" }));
  const { data } = await invokeAgent(perch(), organisation.writeKey, { message: "go" });
  const request = { params: { ...params, request_id: data?.request_id ?? "" } };
  const steps = ok(await organisation.call("GET /v1/agents/{agent_id}/invocations/{request_id}/steps", request)).data;
  return JSON.stringify(steps);
}

const waitUntilDecided = (organisation: Attacked, approval: string) =>
  expect
    .poll(async () =>
      ok(await organisation.call("GET /v1/approvals", { query: { status: "open" } })).data.map(({ id }) => id),
    )
    .not.toContain(toPublicId("approval", approval));

const patch = (organisation: Attacked, body: AgentDefinitionPatch) =>
  organisation.call(patchAgent, { params, body }, organisation.writeKey);

describe("a key that may only write versions", () => {
  test("patches the policy away, deploys and rolls back, and the call still waits", async () => {
    verifies("approvals.floor");
    const organisation = await createAgent([refund({ approval: "always" })], { approvals: { tools: ["refund"] } });
    const as = {
      ...organisation,
      call: ((key, request) => organisation.call(key, request, organisation.writeKey)) as Organisation["call"],
    };
    ok(await patch(organisation, { tools: [refund({ approval: "never" })] }));
    await expectWaiting(organisation, { version: "draft" });
    await deploy(as, { version: "without" });
    await expectWaiting(organisation);
    ok(await patch(organisation, { tools: [refund()] }));
    const { id: deployment_id, status } = await deploy(as, { version: "none" });
    expect(status).toBe("active");
    const rollback = "POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback";
    ok(await as.call(rollback, { params: { ...params, deployment_id }, body: {} } as never));
    await expectWaiting(organisation);
    await expectWaiting(organisation, { version: "none" });
  }, 60_000);

  test("changes neither `security.approvals`, nor a secret's approval, nor puts a secret in its place", async () => {
    verifies("approvals.floor");
    const organisation = await createAgent([refund()], { approvals: { tools: ["refund"] } });
    await createSecret(organisation, { approval: "required" });
    for (const security of [null, { approvals: null }, { approvals: { tools: [] } }])
      expectError(await patch(organisation, { security }), "forbidden");
    const value = "another value";
    const secret = { name: "github_token", value, hosts: ["api.github.com"] };
    const ofSecret = { secret_name: "github_token" };
    const key = organisation.writeKey;
    const refused = [
      await organisation.call("PATCH /v1/secrets/{secret_name}", { params: ofSecret, body: { approval: null } }, key),
      await organisation.call("DELETE /v1/secrets/{secret_name}", { params: ofSecret }, key),
      await organisation.call("POST /v1/agents/{agent_id}/secrets", { params, body: secret }, key),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
    const { data } = ok(
      await organisation.call("PATCH /v1/secrets/{secret_name}", { params: ofSecret, body: { value } }),
    );
    expect(data.approval).toBe("required");
    await expectWaiting(organisation);
  });

  test("has a policy that lets the invoker decide, which counts no more, unlike what asks for more", async () => {
    verifies("approvals.floor");
    const approval = { invoker_may_decide: true, approvers: 2, expires_after_seconds: 60 };
    const organisation = await createAgent([refund({ approval })]);
    const find = async (approval_id: string) =>
      ok(await organisation.call("GET /v1/approvals/{approval_id}", { params: { approval_id } })).data;
    const decide = async (approval_id: string) => {
      const request = { params: { approval_id }, body: { digest: (await find(approval_id)).digest } };
      return organisation.call("POST /v1/approvals/{approval_id}/approve", request, organisation.deciderKey);
    };
    ok(await decide((await expectWaiting(organisation, {}, organisation.deciderKey)).id));
    ok(await organisation.call(patchAgent, { params, body: { security: { approvals: { tools: ["refund"] } } } }));
    const { id } = await expectWaiting(organisation, {}, organisation.deciderKey);
    expectError(await decide(id), "forbidden");
    const shown = await find(id);
    expect(shown).toMatchObject({ status: "open", approvers: 2 });
    // Both are rounded to milliseconds.
    expect(Math.abs(Date.parse(shown.expires_at) - Date.parse(shown.created_at) - 60_000)).toBeLessThanOrEqual(1);
  });
});

describe("a call waits that the definition does not ask for", () => {
  const host = "127.0.0.1";

  test.each<[string, Tool, object, { name: string; arguments: object }]>([
    ["to a host, on any port", refund({ name: "renamed" }), { hosts: [host] }, { name: "renamed", arguments: {} }],
    [
      "to a host in another spelling",
      refund({ url: bank.url.replace(host, "0x7f.1") }),
      { hosts: [host] },
      { name: "refund", arguments: {} },
    ],
    ["of an MCP server's tool, by its own name", orders(), { tools: ["add"] }, callAdd],
    ["of all tools of an MCP server", orders({ tool_approvals: { add: "never" } }), { tools: ["orders"] }, callAdd],
    ["to an MCP server's host", orders({ approval: "never" }), { hosts: [host] }, callAdd],
    [
      "under a condition that does not hold",
      refund({ approval: { when: [{ argument: "n", op: "gt", value: 5 }] } }),
      { tools: ["refund"] },
      { name: "refund", arguments: { n: 1 } },
    ],
  ])("%s", async (_, tool, approvals, call) => {
    verifies("approvals.floor");
    const organisation = await createAgent([tool], {}, call);
    await expectDone(organisation);
    expect(callsMade()).toHaveLength(1);
    bank.calls.length = 0;
    files.calls.length = 0;
    ok(await organisation.call(patchAgent, { params, body: { security: { approvals } } }));
    const { run, approval } = await expectWaiting(organisation);
    expect(approval?.why).toContain("The agent's security settings ask for approval");
    expect((await waitForRunRecord(organisation, run, (status) => status === "waiting")).status).toBe("waiting");
  });

  test("to a host or of a tool that is not named goes on without a person", async () => {
    const organisation = await createAgent([refund(), orders()], {
      approvals: { hosts: ["localhost"], tools: ["lookup"] },
    });
    await expectDone(organisation);
  });
});

test("a remote agent at a host that needs approval is not asked, because it cannot wait for a person", async () => {
  verifies("approvals.floor");
  const organisation = await createAgent([refund()], { approvals: { hosts: ["127.0.0.1"] } });
  ok(await patch(organisation, { runtime: { type: "http", url: remote.url } }));
  const { error, text } = await invokeAgent(perch(), organisation.writeKey, { message: "go" });
  expect(error?.code, text).toBe("conflict");
  expect(remote.calls).toEqual([]);
});

describe("a secret that needs approval", () => {
  const withSecret = async (tool: Tool, call?: { name: string; arguments: object }) => {
    const organisation = await createAgent([tool], {}, call);
    const hosts = [hostOf(bank.url), hostOf(files.url), hostOf(remote.url), hostOf(provider.issuer)];
    await createSecret(organisation, { hosts, approval: "required" });
    return organisation;
  };

  test.each<[string, Tool]>([
    ["a header", refund({ headers: bearer })],
    ["a parameter", refund({ method: "GET", query: { key: "{{secret.github_token}}" } })],
  ])(
    "in %s makes every call wait, and is sent once it is approved",
    async (_, tool) => {
      verifies("approvals.floor");
      const organisation = await withSecret(tool);
      const { run, id, approval } = await expectWaiting(organisation);
      expect(approval?.why).toContain("The secret github_token asks for approval");
      const approve = "POST /v1/approvals/{approval_id}/approve";
      ok(await organisation.call(approve, { params: { approval_id: id }, body: {} }, organisation.deciderKey));
      await waitForRunRecord(organisation, run, (status) => status === "completed");
      expect(callsMade()).toHaveLength(1);
    },
    30_000,
  );

  test("is not sent to list the tools of an MCP server, which needs no approval", async () => {
    verifies("approvals.floor");
    const before = files.requests.length;
    const organisation = await withSecret(orders({ headers: bearer }), callAdd);
    const { text } = await invokeAgent(perch(), organisation.writeKey, { message: "go" });
    expect(text).toContain("the secret github_token needs a person's approval of each call");
    expect(files.requests.slice(before)).toEqual([]);
  });

  test("is not sent to the provider of an account, who is asked without approval", async () => {
    verifies("approvals.floor");
    const { clientId } = accountClients.machine;
    const connection = {
      ...{ account: "agent" as const, issuer: provider.issuer, client_id: clientId },
      ...{ client_secret: "{{secret.github_token}}", scopes: ["mail.read"] },
    };
    const organisation = await withSecret(refund({ connection }));
    expect(await failureOfCall(organisation)).toContain("the secret github_token needs a person's approval of each");
    expect(callsMade()).toEqual([]);
  });

  test("is of the one that the agent uses: its own takes precedence", async () => {
    const organisation = await withSecret(refund({ headers: bearer }));
    await createSecret(organisation, { hosts: [hostOf(bank.url)], agent: "bot" });
    await expectDone(organisation);
    const body = { approval: "required" as const };
    const own = { ...params, secret_name: "github_token" };
    ok(await organisation.call("PATCH /v1/agents/{agent_id}/secrets/{secret_name}", { params: own, body }));
    bank.calls.length = 0;
    await expectWaiting(organisation);
  });

  test("is not sent by a remote agent, which is called without approval", async () => {
    verifies("approvals.floor");
    const organisation = await withSecret(refund());
    ok(await patch(organisation, { runtime: { type: "http", url: remote.url, headers: bearer } }));
    const { text } = await invokeAgent(perch(), organisation.writeKey, { message: "go" });
    expect(text).toContain("the secret github_token needs a person's approval of each call");
    expect(remote.calls).toEqual([]);
  });

  test("does not open if the table says that it needs none", async () => {
    const organisation = await withSecret(refund({ headers: bearer }));
    const organisationId = parsePublicId("organisation", organisation.id) ?? "";
    await perch().server.core.db.inOrganisation(organisationId, (trx) =>
      sql`update secrets set approval = null where organisation_id = ${organisationId}`.execute(trx),
    );
    expect(await failureOfCall(organisation)).toContain("the secret github_token does not exist");
    expect(bank.calls).toEqual([]);
  });
});

describe("the settings of a run that began under them", () => {
  test("count after it waited, and when its turn of the session comes", async () => {
    verifies("approvals.floor");
    const call = { name: "refund", arguments: {} };
    const organisation = await createAgent([refund()], { approvals: { tools: ["refund"] } });
    const instructions = JSON.stringify({ steps: [{ tool_calls: [call] }, { tool_calls: [call] }, { reply: "done" }] });
    ok(await patch(organisation, { instructions, approvals: { while_waiting: "queue" } }));
    const context = { user_id: "ada", session_id: "s" };
    const first = await expectWaiting(organisation, context);
    const second = await invokeInBackground(perch(), organisation.writeKey, { message: "go", context });
    await waitForRunRecord(organisation, second, (status) => status === "waiting");
    // The setting is gone, and the runs that have begun keep it.
    ok(await organisation.call(patchAgent, { params, body: { security: { approvals: null } } }));
    for (const run of [first.run, first.run, second, second]) {
      const [{ id } = { id: "" }] = await waitForApprovals(perch(), organisation, run);
      await decide(perch(), organisation, id, { verdict: "reject" });
      await waitUntilDecided(organisation, id);
    }
    for (const run of [first.run, second])
      await waitForRunRecord(organisation, run, (status) => status === "completed");
    expect(callsMade()).toEqual([]);
  }, 60_000);

  test("are carried again if the engine lost it", async () => {
    verifies("approvals.floor");
    const organisation = await createAgent([refund()], { approvals: { tools: ["refund"] } });
    await deploy(organisation, { version: "lost" });
    const { id: agent } = ok(await organisation.call("GET /v1/agents/{agent_id}", { params })).data;
    const run = { organisation: organisation.id, agent, version: "lost", status: "running" as const };
    const [id = ""] = await insertRuns(perch().database.adminUrl, run);
    const { db, definitions, logger, nowMs, telemetry } = perch().server.core;
    const restarted: unknown[] = [];
    const engine = {
      findRun: async () => "unknown" as const,
      restart: async (lost: { readonly id: string }) => restarted.push(lost) > 0,
    };
    const record = async () => Promise.reject(new Error("nothing ended"));
    await createRepairLostRuns({ db, engine, definitions, record, logger, nowMs, telemetry, minAgeSeconds: 0 })();
    expect(restarted).toContainEqual(
      expect.objectContaining({
        id: parsePublicId("request", id),
        floor: { tools: ["refund"], hosts: [], secrets: [] },
        needs: expect.arrayContaining(["approvals", "approval_floor"]),
      }),
    );
  }, 30_000);
});

test("the audit log names what was changed", async () => {
  const organisation = await createAgent([refund()]);
  await createSecret(organisation);
  ok(await organisation.call(patchAgent, { params, body: { security: { approvals: { hosts: ["localhost"] } } } }));
  const secret = { params: { secret_name: "github_token" }, body: { approval: "required" as const } };
  ok(await organisation.call("PATCH /v1/secrets/{secret_name}", secret));
  const { data } = ok(await organisation.call("GET /v1/audit-log", { query: {} }));
  expect(data.slice(0, 2)).toMatchObject([
    { operation: "updateSecret", details: { fields: ["approval"] } },
    { operation: "updateAgent", details: { fields: ["security.approvals"] } },
  ]);
});
