import { type OperationKey, operations } from "@perch/contract";
import type { AuditEntry } from "@perch/sdk";
import { sourceFiles } from "@perch/testkit/source-files.ts";
import { describe, expect, test } from "vitest";
import { isAudited } from "../../server/src/resources/audit/audit-entry.ts";
import { usePerch } from "../../server/test/support/harness.ts";
import { auditSentence } from "../src/audit-sentence.ts";
import { perchCommand } from "../src/perch-command.ts";
import { createShell } from "./shell.ts";
import { newDesk, removeDesks } from "./using-perch.ts";

const server = usePerch();
removeDesks();

const address = ["--base-url", "https://models.example/v1"];
const add = ["providers", "add", "local", ...address];

describe("perch models", () => {
  test("lists what agents can use, and where it comes from", async () => {
    const { perch } = await newDesk(server());
    const before = await perch(["models"]);
    expect(before.stdout).toContain("perch/echo    perch     Perch\n");
    expect(before.stderr).toContain("perch providers add openai --type openai --api-key-env OPENAI_API_KEY");
    await perch([...add, "--model", "small", "--model", "large"]);
    const after = await perch(["models"]);
    expect(after.stdout).toContain("local/small   local     your providers\n");
    expect(after.stdout).toContain("local/large ");
    expect(after.stderr).toBe("");
  });
});

describe("perch providers update", () => {
  test("changes what is named and keeps the rest", async () => {
    const { perch } = await newDesk(server());
    await perch([...add, "--api-key-env", "K", "--model", "small"], { env: { K: "s3cret" } });
    const models = await perch(["providers", "update", "local", "--model", "large"]);
    expect([models.code, models.stdout]).toEqual([0, "local updated: models.\n"]);
    const get = async () => (await perch(["providers", "--json"])).json<{ data: object[] }>().data[0];
    expect(await get()).toMatchObject({ models: ["large"], api_key_set: true, base_url: "https://models.example/v1" });
    await perch(["providers", "update", "local", "--all-models", "--remove-api-key"]);
    expect(await get()).toMatchObject({ models: [], api_key_set: false, base_url: "https://models.example/v1" });
    const key = await perch(["providers", "update", "local", "--api-key-env", "K"], { env: { K: "s3cret" } });
    expect(key.stdout).toBe("local updated: key.\n");
    expect(await get()).toMatchObject({ api_key_set: true });
  });

  test.each([
    ["nothing", []],
    ["both lists of models", ["--model", "a", "--all-models"]],
    ["a key that is set and removed", ["--api-key-secret", "a", "--remove-api-key"]],
  ])("%s is wrong usage", async (_, options) => {
    const { perch } = await newDesk(server());
    expect((await perch(["providers", "update", "local", ...options])).code).toBe(2);
  });
});

describe("--api-key-env", () => {
  test.each([
    ["not set", {}],
    ["empty", { MODEL_KEY: "" }],
  ])("a variable that is %s is an error that says so, and nothing is stored", async (state, env) => {
    const { perch } = await newDesk(server());
    const refused = await perch([...add, "--api-key-env", "MODEL_KEY"], { env });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(`The environment variable MODEL_KEY is ${state}, so there is no key to store.`);
    expect((await perch(["providers", "--json"])).json()).toMatchObject({ data: [] });
    expect((await perch(["providers", "update", "local", "--api-key-env", "MODEL_KEY"], { env })).code).toBe(1);
  });

  test.each(["sk-proj-0123456789", "skproj0123456789abcdefghij"])(
    "%s, a key in its place, is not repeated",
    async (key) => {
      const { perch } = await newDesk(server());
      const refused = await perch([...add, "--api-key-env", key]);
      expect([refused.code, refused.stderr.includes(key)]).toEqual([2, false]);
    },
  );
});

describe("perch organisation", () => {
  test("set asks, switches off what manage may give, and passes on whose command switches it on again", async () => {
    const { perch, organisation } = await newDesk(server());
    expect((await perch(["organisation", "show"])).stdout).toBe(
      `organisation           Test (${organisation.id}), enterprise\nmanage-grants-approve  on\n`,
    );
    const set = ["organisation", "set", "--manage-grants-approve"];
    expect((await perch([...set, "off"])).stderr).toContain("--yes");
    expect((await perch(["organisation", "show", "--json"])).json()).toMatchObject({ manage_grants_approve: true });
    expect(await perch([...set, "off", "--yes"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("manage-grants-approve  off\n"),
    });
    const refused = await perch([...set, "on"]);
    expect([refused.code, refused.stderr.includes("perch-server set-organisation")]).toEqual([1, true]);
    expect((await perch(["organisation", "set"])).code).toBe(2);
  });
});

describe("perch env", () => {
  test("prints exports of the current connection; without --show-key, a key from elsewhere is unset", async () => {
    const perch = createShell({
      cwd: "/",
      env: { PERCH_URL: "http://a.example/it's", PERCH_API_KEY: "perch_00secret" },
    });
    const hidden = await perch(["env"]);
    expect(hidden.stdout).toBe("export PERCH_URL='http://a.example/it'\\''s'\nunset PERCH_API_KEY\n");
    expect(hidden.stderr).toContain(`eval "$(${perchCommand("env --show-key")})"`);
    expect(hidden.stdout + hidden.stderr + (await perch(["env", "--json"])).stdout).not.toContain("perch_00secret");
    expect((await perch(["env", "--show-key"])).stdout).toContain("export PERCH_API_KEY='perch_00secret'\n");
  });
});

describe("perch audit", () => {
  test("says who changed what, newest first, a page at a time", async () => {
    const { perch } = await newDesk(server());
    await perch([...add, "--model", "small"]);
    await perch(["providers", "update", "local", "--all-models"]);
    const { stdout } = await perch(["audit", "--limit", "2"]);
    const sentences = stdout.trim().split("\n");
    expect(sentences[0]).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+ key_\w{26} updated provider local \(models\) from /,
    );
    expect(sentences[1]).toMatch(/ key_\w{26} created provider local \(.*models.*\) from /);
    const next = await perch(["audit", "--limit", "2", "--offset", "1"]);
    expect(next.stdout.split("\n")[0]).toBe(sentences[1]);
    expect(next.stdout).toContain("an operator created organisation org_");
  });

  test("the filters of the API narrow it down", async () => {
    const { perch } = await newDesk(server());
    await perch(add);
    const operations = async (...options: string[]) =>
      (await perch(["audit", "--json", ...options]))
        .json<{ data: AuditEntry[] }>()
        .data.map(({ operation }) => operation);
    expect(await operations("--operation", "createProvider")).toEqual(["createProvider"]);
    expect(await operations("--resource", "local", "--since", "1h")).toEqual(["createProvider"]);
    expect(await operations("--until", "1h")).toEqual([]);
    expect(await operations("--outcome", "refused")).toEqual([]);
    const { id } = (await perch(["whoami", "--json"])).json<{ key: { id: string } }>().key;
    expect(await operations("--by-key", id)).toEqual(["createProvider"]);
    expect((await perch(["audit", "--outcome", "refused"])).stderr).toBe("No entries.\n");
  });

  const entry: AuditEntry = {
    id: "aud_1",
    created_at: "2026-01-31T12:00:00.000Z",
    actor: "key",
    key_id: "key_1",
    user_id: null,
    person: null,
    session_id: null,
    operation: "updateAgent",
    resource_type: "agent",
    resource: "agent_1",
    agent_id: "agent_1",
    address: "192.0.2.1",
    correlation_id: null,
    outcome: "changed",
    details: { fields: ["model", "tools"] },
  };

  test.each<[Partial<AuditEntry>, string]>([
    [{}, "key_1 updated agent agent_1 (model, tools) from 192.0.2.1"],
    [{ user_id: "ada", actor: "jwt" }, "ada with key_1 updated agent agent_1 (model, tools) from 192.0.2.1"],
    [
      { outcome: "refused", details: { reason: "forbidden" }, operation: "deleteAgent" },
      "key_1 was not allowed to delete agent agent_1 from 192.0.2.1: forbidden",
    ],
    [
      { operation: "set-organisation", actor: "operator", key_id: null, resource: "org_1", address: null, details: {} },
      "an operator changed organisation org_1",
    ],
    [
      { operation: "set-tier", actor: "operator", key_id: null, resource: "org_1", address: null, details: {} },
      "an operator changed the tier of organisation org_1",
    ],
    [
      { operation: "rollbackDeployment", resource: "dep_1", details: {} },
      "key_1 rolled back to deployment dep_1 from 192.0.2.1",
    ],
    [
      { operation: "revokeLeakedKey", actor: "public", key_id: null, resource: "key_2", details: {} },
      "a caller without a key revoked leaked key key_2 from 192.0.2.1",
    ],
    [
      { operation: "beginMfa", resource: "key_2", details: {} },
      "key_1 began the enrolment of a second factor of key key_2 from 192.0.2.1",
    ],
    [
      { operation: "recheckPerson", person: "ada@acme.example", resource: "cse_1", address: null, details: {} },
      "ada@acme.example got another role in console session cse_1",
    ],
    [
      { actor: "system", key_id: null, operation: "rollBackCanary", resource: "dep_1", address: null, details: {} },
      "Perch rolled back deployment dep_1 because it broke its guards",
    ],
    [
      { outcome: "refused", operation: "createAgent", resource: "key_1", details: { reason: "forbidden" } },
      "key_1 was not allowed to create an agent from 192.0.2.1: forbidden",
    ],
  ])("%o reads: %s", (changed, sentence) => {
    expect(auditSentence({ ...entry, ...changed })).toBe(sentence);
  });

  test("every audited operation reads as English, done and refused", () => {
    const ids = (Object.keys(operations) as OperationKey[]).filter(isAudited).map((key) => operations[key].id);
    const commands = sourceFiles(["packages/server/src"])
      .filter(({ path }) => !path.endsWith(".test.ts"))
      .flatMap(({ text }) => [...text.matchAll(/\boperation: "([a-z]+(?:-[a-z]+)+)"/g)].map(([, id = ""]) => id));
    expect(commands.length).toBeGreaterThan(4);
    const plain = { ...entry, agent_id: null, address: null, resource: "X", details: { reason: "forbidden" } };
    const sentences = [...ids, ...commands].sort().map((operation) => {
      const done = auditSentence({ ...plain, operation });
      return `${done.replace("key_1 ", "")} | ${auditSentence({ ...plain, operation, outcome: "refused" })
        .split(" to ")
        .slice(1)
        .join(" to ")}`;
    });
    expect(sentences).toMatchInlineSnapshot(`
      [
        "aborted deployment X | abort deployment X: forbidden",
        "added memory X | add a memory: forbidden",
        "answered approval X | answer approval X: forbidden",
        "approved approval X | approve approval X: forbidden",
        "began the enrolment of a second factor of key X | begin the enrolment of a second factor of key X: forbidden",
        "began the enrolment of a second factor of key X | begin the enrolment of a second factor of key X: forbidden",
        "cleared the memory of agent X | clear the memory of agent X: forbidden",
        "confirmed connection X | confirm connection X: forbidden",
        "confirmed the second factor of key X | confirm the second factor of key X: forbidden",
        "created key X | create a key: forbidden",
        "created organisation X | create an organisation: forbidden",
        "created agent X | create an agent: forbidden",
        "created agent secret X | create an agent secret: forbidden",
        "created connection X | create a connection: forbidden",
        "created a link for console session X | create a link for a console session: forbidden",
        "began console session X | begin a console session: forbidden",
        "created deployment X | create a deployment: forbidden",
        "created key X | create a key: forbidden",
        "created provider X | create a provider: forbidden",
        "created secret X | create a secret: forbidden",
        "created webhook X | create a webhook: forbidden",
        "deleted agent X | delete agent X: forbidden",
        "deleted agent secret X | delete agent secret X: forbidden",
        "deleted memory X | delete memory X: forbidden",
        "deleted provider X | delete provider X: forbidden",
        "deleted secret X | delete secret X: forbidden",
        "deleted webhook X | delete webhook X: forbidden",
        "ended console session X | end console session X: forbidden",
        "enrolled a second factor of key X | enrol a second factor of key X: forbidden",
        "requested erasure X | request erasure X: forbidden",
        "paused agent X | pause agent X: forbidden",
        "promoted deployment X | promote deployment X: forbidden",
        "delivered delivery X again | deliver delivery X again: forbidden",
        "delivered the failed deliveries of webhook X again | deliver the failed deliveries of webhook X again: forbidden",
        "rejected approval X | reject approval X: forbidden",
        "removed the second factor of key X | remove the second factor of key X: forbidden",
        "reset the security of agent X | reset the security of agent X: forbidden",
        "resumed agent X | resume agent X: forbidden",
        "revoked connection X | revoke connection X: forbidden",
        "revoked key X | revoke key X: forbidden",
        "revoked leaked key X | revoke leaked key X: forbidden",
        "rolled back to deployment X | roll back to deployment X: forbidden",
        "rotated key X | rotate key X: forbidden",
        "rotated the secret of webhook X | rotate the secret of webhook X: forbidden",
        "changed organisation X | change organisation X: forbidden",
        "changed the tier of organisation X | change the tier of organisation X: forbidden",
        "gave a code of the second factor of key X | give a code of the second factor of key X: forbidden",
        "tested webhook X | test webhook X: forbidden",
        "updated agent X | update agent X: forbidden",
        "updated agent secret X | update agent secret X: forbidden",
        "updated deployment X | update deployment X: forbidden",
        "updated key X | update key X: forbidden",
        "updated organisation X | update organisation X: forbidden",
        "updated provider X | update provider X: forbidden",
        "updated secret X | update secret X: forbidden",
        "updated webhook X | update webhook X: forbidden",
      ]
    `);
  });
});
