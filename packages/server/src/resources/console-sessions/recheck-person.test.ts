import { setTimeout as sleep } from "node:timers/promises";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSendInSession } from "../../../test/support/browser.ts";
import {
  defaultAccounts,
  type PeopleTestbed,
  type SignedInBrowser,
  startPeopleTestbed,
} from "../../../test/support/people-testbed.ts";
import { startSilentNode } from "../../../test/support/silent-node.ts";
import { newPublicId } from "../../platform/ids.ts";

let testbed: PeopleTestbed;
let withoutRefresh: PeopleTestbed;

/** The warnings in the operator's log. */
const warnings: string[] = [];
const logger = pino(
  { level: "warn" },
  { write: (line: string) => void warnings.push((JSON.parse(line) as { readonly msg: string }).msg) },
);
const issuerAway = "the issuer did not confirm a session, will retry";

beforeAll(async () => {
  testbed = await startPeopleTestbed({ nodes: 2, logger, overrides: { valkeyUrl: serviceUrl("PERCH_VALKEY_URL") } });
  withoutRefresh = await startPeopleTestbed({ refreshTokens: false, groupsInIdToken: false, accessTokenSeconds: 900 });
});
beforeEach(() => {
  for (const { accounts } of [testbed, withoutRefresh])
    for (const [login, account] of defaultAccounts()) accounts.set(login, account);
});
afterAll(async () => {
  await testbed.stop();
  await withoutRefresh.stop();
});

const setGroups = ({ accounts }: PeopleTestbed, login: string, ...groups: string[]) =>
  accounts.set(login, { ...accounts.get(login), groups });

const roleAt = async (browser: SignedInBrowser, node: number) => {
  const { status, body } = await browser.get("/v1/me", node);
  return status === 200 ? body.data.key.role : status;
};

const rolesAt = async (browser: SignedInBrowser) => [await roleAt(browser, 0), await roleAt(browser, 1)];

/** Each node's answer to a decision on an approval that does not exist. */
const decideAt = async ({ get, cookie }: SignedInBrowser) => {
  const token = (await get("/v1/me")).body.data.session?.csrf_token ?? "";
  const path = `/v1/approvals/${newPublicId("approval")}/approve`;
  const answers = testbed.urls.map(async (url) => {
    const send = createSendInSession(url, cookie(), token);
    return (await send(path, { method: "POST", body: {} })).status;
  });
  return Promise.all(answers);
};

const query = (statement: string) =>
  withClient(testbed.database.adminUrl, (client) => client.query<Record<string, string>>(statement));

const lastAuditReason = async (operation: string) => {
  const { rows } = await query(
    `select details->>'reason' as reason from audit_log where operation = '${operation}' order by at desc limit 1`,
  );
  return rows[0]?.reason;
};

describe("a person's session, within 10 minutes of the issuer's last word", () => {
  test("does not ask the issuer, however much it is used", async () => {
    const browser = await testbed.signIn("ada");
    const before = testbed.issuer.tokenRequests();
    setGroups(testbed, "ada");
    testbed.passMinutes(9);
    for (let i = 0; i < 5; i++) expect(await rolesAt(browser)).toEqual(["admin", "admin"]);
    expect(testbed.issuer.tokenRequests()).toBe(before);
  });
});

describe("a person's session, when 10 minutes have passed", () => {
  test("ends on every node with the person's last group, and the audit log has the reason", async () => {
    verifies("console.person-recheck");
    const browser = await testbed.signIn("ada");
    expect(await rolesAt(browser)).toEqual(["admin", "admin"]);
    setGroups(testbed, "ada", "something-else");
    testbed.passMinutes(10);
    expect(await rolesAt(browser)).toEqual([401, 401]);
    expect(await lastAuditReason("endConsoleSession")).toContain("No group of the person");
    // The group given back does not bring the session back.
    setGroups(testbed, "ada", "perch-admins");
    expect(await rolesAt(browser)).toEqual([401, 401]);
  });

  test("has the role of the groups that the person now has, on every node", async () => {
    const browser = await testbed.signIn("ada");
    expect(await rolesAt(browser)).toEqual(["admin", "admin"]);
    setGroups(testbed, "ada", "perch-viewers");
    testbed.passMinutes(10);
    expect(await rolesAt(browser)).toEqual(["viewer", "viewer"]);
    expect((await browser.get("/v1/audit-log", 1)).status).toBe(403);
    expect(await lastAuditReason("recheckPerson")).toBe("The role is viewer now; it was admin.");
    setGroups(testbed, "ada", "perch-admins");
    testbed.passMinutes(10);
    expect((await rolesAt(browser)).reverse()).toEqual(["admin", "admin"]);
  });

  test("loses and gets the permission approve with the group, on every node, and the audit log records it", async () => {
    verifies("console.person-approves");
    setGroups(testbed, "ada", "perch-admins", "perch-approvers");
    const browser = await testbed.signIn("ada");
    // 404: the person may decide, but the approval does not exist.
    expect(await decideAt(browser)).toEqual([404, 404]);
    setGroups(testbed, "ada", "perch-admins");
    testbed.passMinutes(9);
    expect(await decideAt(browser)).toEqual([404, 404]);
    testbed.passMinutes(1);
    expect(await decideAt(browser)).toEqual([403, 403]);
    expect(await rolesAt(browser)).toEqual(["admin", "admin"]);
    expect(await lastAuditReason("recheckPerson")).toBe("The permission approve was taken away.");
    setGroups(testbed, "ada", "perch-approvers");
    testbed.passMinutes(10);
    expect((await decideAt(browser)).reverse()).toEqual([404, 404]);
    expect(await lastAuditReason("recheckPerson")).toBe(
      "The role is viewer now; it was admin. The permission approve was added.",
    );
  });

  test("ends when the account is gone", async () => {
    const browser = await testbed.signIn("vic");
    testbed.accounts.delete("vic");
    testbed.passMinutes(10);
    expect(await rolesAt(browser)).toEqual([401, 401]);
    expect(await lastAuditReason("endConsoleSession")).toBe("The issuer no longer confirms the sign-in.");
  });

  test("asks once, however many requests of both nodes come together: a refresh token counts once", async () => {
    const browser = await testbed.signIn("ada");
    for (let round = 0; round < 3; round++) {
      testbed.passMinutes(10);
      const before = testbed.issuer.tokenRequests();
      const roles = await Promise.all(Array.from({ length: 20 }, (_, index) => roleAt(browser, index % 2)));
      expect(new Set(roles)).toEqual(new Set(["admin"]));
      expect(testbed.issuer.tokenRequests()).toBe(before + 1);
    }
  });

  test("ends when its tokens are another session's, or were changed", async () => {
    const [first, second] = [await testbed.signIn("ada"), await testbed.signIn("ada")];
    await query(`
      update console_sessions set sealed_refresh_token = (select sealed_refresh_token from console_sessions
        where ended_at is null order by created_at desc limit 1)
      where id = (select id from console_sessions where ended_at is null order by created_at desc limit 1 offset 1)`);
    testbed.passMinutes(10);
    expect([await roleAt(first, 0), await roleAt(second, 0)]).toEqual([401, "admin"]);
  });
});

describe("a refresh token that the issuer has replaced", () => {
  test("is stored before the groups are read, so a failure between the two ends no session", async () => {
    const browser = await testbed.signIn("ada");
    // Without groups in the ID token, userinfo is asked for them.
    testbed.accounts.set("ada", { name: "Ada" });
    testbed.issuer.answerNext("/me", async () => undefined);
    testbed.passMinutes(10);
    expect(await roleAt(browser, 0)).toBe("admin");
    setGroups(testbed, "ada", "perch-viewers");
    testbed.passMinutes(1);
    await expect.poll(() => roleAt(browser, 0)).toBe("viewer");
  });

  test("is not lost when the database does not take it at once", async () => {
    const browser = await testbed.signIn("ada");
    const before = testbed.issuer.tokenRequests();
    await query(`
      create function refuse_tokens() returns trigger language plpgsql as $$ begin raise 'not now'; end $$;
      create trigger refuse_tokens before update of sealed_refresh_token on console_sessions
        for each row execute function refuse_tokens()`);
    testbed.passMinutes(10);
    const asked = roleAt(browser, 0);
    await expect.poll(() => testbed.issuer.tokenRequests()).toBe(before + 1);
    await sleep(500);
    await query("drop trigger refuse_tokens on console_sessions; drop function refuse_tokens");
    expect(await asked).toBe("admin");
    testbed.passMinutes(10);
    expect(await rolesAt(browser)).toEqual(["admin", "admin"]);
  });
});

describe("a database that holds up a check", () => {
  test("is not taken for an issuer that does not answer", async () => {
    const browser = await testbed.signIn("ada");
    testbed.passMinutes(10);
    warnings.length = 0;
    await withClient(testbed.database.adminUrl, async (client) => {
      await client.query("begin");
      await client.query("select id from console_sessions order by created_at desc limit 1 for update");
      expect(await roleAt(browser, 0)).toBe("admin");
      await client.query("rollback");
    });
    expect(warnings).toEqual(["the check of a session takes long"]);
  });
});

describe("another node's claim of a check", () => {
  const newestSession = "(select id from console_sessions order by created_at desc limit 1)";
  const claimFor = (milliseconds: number) =>
    query(`update console_sessions set check_claimed_until = now() + interval '${milliseconds} milliseconds'
      where id = ${newestSession}`);

  test("counts by the database's clock, however far ahead this node's is", async () => {
    const browser = await testbed.signIn("ada");
    const before = testbed.issuer.tokenRequests();
    testbed.passMinutes(10);
    await claimFor(1500);
    const asked = roleAt(browser, 0);
    await sleep(750);
    expect(testbed.issuer.tokenRequests()).toBe(before);
    expect(await asked).toBe("admin");
    expect(testbed.issuer.tokenRequests()).toBe(before + 1);
  });

  test("is not released by a node whose own claim has passed", async () => {
    const browser = await testbed.signIn("ada");
    testbed.passMinutes(10);
    testbed.issuer.answerNext("/token", async () => void (await claimFor(30_000)));
    expect(await roleAt(browser, 0)).toBe("admin");
    const { rows } = await query(`select check_claimed_until from console_sessions where id = ${newestSession}`);
    expect(rows).toEqual([{ check_claimed_until: expect.any(Date) }]);
  });
});

describe("an answer that cannot be believed", () => {
  test("ends no session: it proves nothing about the person", async () => {
    const browser = await testbed.signIn("ada");
    const { issuer, signToken } = testbed.issuer;
    const seconds = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer, aud: testbed.issuer.clientId, sub: "ada", iat: seconds - 7200, exp: seconds - 3600 };
    testbed.issuer.answerNext("/token", async () => ({
      access_token: "any",
      token_type: "Bearer",
      id_token: await signToken(claims),
    }));
    testbed.passMinutes(10);
    expect(await roleAt(browser, 0)).toBe("admin");
    setGroups(testbed, "ada", "perch-viewers");
    testbed.passMinutes(1);
    await expect.poll(() => roleAt(browser, 0)).toBe("viewer");
  });
});

describe("an issuer that gives no refresh token", () => {
  test("is asked at userinfo until its access token expires, and then the session ends", async () => {
    const browser = await withoutRefresh.signIn("ada");
    setGroups(withoutRefresh, "ada", "perch-viewers");
    withoutRefresh.passMinutes(10);
    expect(await roleAt(browser, 0)).toBe("viewer");
    withoutRefresh.passMinutes(10);
    expect(await roleAt(browser, 0)).toBe(401);
  });
});

describe("settings that change with a restart", () => {
  test("count at once for sessions that there are: a mapping that is gone or has another role, another issuer, none", async () => {
    const { oidc } = testbed.config;
    if (!oidc) throw new Error("there is no issuer");
    const [viewers, admins] = oidc.groups;
    if (!viewers || !admins) throw new Error("there are no groups");
    const statusWith = async (browser: SignedInBrowser, change: Partial<typeof oidc> | undefined) => {
      const other = await testbed.callOther({ oidc: change && { ...oidc, ...change } }, browser, "/v1/me");
      return other.status === 200 ? other.body.data.key.role : other.status;
    };
    const browser = await testbed.signIn("ada");
    expect(await statusWith(browser, { groups: [{ ...admins, role: "developer" }] })).toBe("developer");
    expect(await statusWith(browser, undefined)).toBe(401);
    expect(await statusWith(browser, { groups: [{ ...admins, group: "other" }] })).toBe(401);
    expect(await roleAt(browser, 0)).toBe(401);
    const other = await testbed.signIn("ada");
    expect(await statusWith(other, { issuer: "http://127.0.0.1:1" })).toBe(401);
  });
});

describe("settings that allow a group to approve", () => {
  test("count at once for sessions that there are, and so does their end", async () => {
    const { oidc } = testbed.config;
    if (!oidc) throw new Error("there is no issuer");
    const permissionsWith = async (browser: SignedInBrowser, approve: boolean) => {
      const groups = oidc.groups.map((mapping) => ({ ...mapping, approve }));
      return (await testbed.callOther({ oidc: { ...oidc, groups } }, browser, "/v1/me")).body.data.key.permissions;
    };
    const browser = await testbed.signIn("vic");
    expect(await permissionsWith(browser, true)).toEqual(["read", "approve"]);
    expect(await permissionsWith(browser, false)).toEqual(["read"]);
  });

  test("and an issuer that confirms the group are one change, and one entry in the audit log", async () => {
    const browser = await testbed.signIn("vic");
    setGroups(testbed, "vic", "perch-approvers");
    // As a node of an earlier release leaves it, which knows the group and not the permission.
    await query(`update console_sessions set groups = '{perch-viewers,perch-approvers}', may_approve = false
      where subject = 'vic' and ended_at is null`);
    const entries = () => query("select at from audit_log where operation = 'recheckPerson'");
    const before = (await entries()).rows.length;
    testbed.passMinutes(10);
    expect(await decideAt(browser)).toEqual([404, 404]);
    expect((await entries()).rows.length).toBe(before + 1);
  });
});

describe("an issuer that does not answer", () => {
  test("delays no request for 10 more minutes, and then the answer is 503 with the reason, until it answers again", async () => {
    verifies("console.person-issuer-away");
    const browser = await testbed.signIn("ada");
    await testbed.issuer.stop();
    testbed.passMinutes(10);
    expect(await rolesAt(browser)).toEqual(["admin", "admin"]);
    testbed.passMinutes(9);
    expect(await rolesAt(browser)).toEqual(["admin", "admin"]);
    testbed.passMinutes(1);
    const refused = await browser.get("/v1/me");
    expect(refused.status).toBe(503);
    expect(refused.body.error).toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/^Acme sign-on did not answer for 20 minutes, .* or sign in with an API key\.$/),
    });
    await testbed.issuer.start();
    testbed.passMinutes(1);
    expect(await rolesAt(browser)).toEqual(["admin", "admin"]);
  });

  test("does not prevent a person from signing out, nor allow them to end another's session", async () => {
    const [admin, other] = [await testbed.signIn("ada"), await testbed.signIn("vic")];
    const sessionOf = async ({ get }: SignedInBrowser) => (await get("/v1/me")).body.data.session;
    const [own, others] = [await sessionOf(admin), await sessionOf(other)];
    const end = async (browser: SignedInBrowser, id = "", token = "") => {
      const headers = { "x-csrf-token": token };
      const url = `${testbed.urls[0]}/v1/console/sessions/${id}`;
      return (await browser.jar.request(url, { method: "DELETE", headers })).status;
    };
    await testbed.issuer.stop();
    try {
      testbed.passMinutes(20);
      expect(await end(admin, others?.id, own?.csrf_token)).toBe(503);
      expect(await end(admin, own?.id, own?.csrf_token)).toBe(200);
      expect(await end(other, "current", others?.csrf_token)).toBe(200);
      expect(await roleAt(other, 1)).toBe(401);
    } finally {
      await testbed.issuer.start();
      // A failed discovery is remembered for a moment.
      testbed.passMinutes(1);
    }
  });

  test("and hangs is waited for once, for 3 seconds, and never by others", async () => {
    const [browser, key] = [await testbed.signIn("ada"), testbed.adminKey];
    await testbed.issuer.stop();
    const silent = await startSilentNode(Number(new URL(testbed.issuer.issuer).port));
    try {
      testbed.passMinutes(10);
      warnings.length = 0;
      const timed = async (work: Promise<unknown>) => {
        const startedAt = performance.now();
        await work;
        return performance.now() - startedAt;
      };
      const first = timed(Promise.all(Array.from({ length: 5 }, () => browser.get("/v1/me"))));
      const byKey = timed(fetch(`${testbed.urls[0]}/v1/me`, { headers: { authorization: `Bearer ${key}` } }));
      expect(await byKey).toBeLessThan(1000);
      expect(await first).toBeLessThan(4000);
      for (let i = 0; i < 3; i++) expect(await timed(browser.get("/v1/me"))).toBeLessThan(1000);
      // Once for the check, however many requests waited: the issuer's own limit has passed by now.
      await sleep(500);
      expect(warnings.filter((message) => message === issuerAway)).toHaveLength(1);
    } finally {
      silent.close();
      await testbed.issuer.start();
    }
  });
});
