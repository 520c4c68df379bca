import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { useConsentTestbed } from "../support/consent-testbed.ts";
import {
  confirm,
  connect,
  createLink,
  openBrowser,
  readConnection,
  returnUrl,
  walkConsent,
} from "../support/consents.ts";
import { ok } from "../support/contract-client.ts";

/** Attacks 1 to 14 of docs/security/connections.md: only the user for whom the link was made can consent. */
const testbed = useConsentTestbed();

const exchanges = (): number => testbed().provider.countTokenRequests("authorization_code");
const walk = (consent: Parameters<typeof walkConsent>[2]) =>
  walkConsent(testbed().perch, testbed().organisation, consent);
const statusOf = async (id: string) => (await readConnection(testbed().organisation, id)).status;

test("a consent works for the user it was made for, so the refusals below have the right reason", async () => {
  const { organisation } = testbed();
  const before = exchanges();
  const { connection, returned, code } = await walk({ user_id: "ada" });
  expect(`${returned.origin}${returned.pathname}`).toBe(returnUrl);
  expect(returned.searchParams.get("connection_id")).toBe(connection.id);
  expect([exchanges() - before, await statusOf(connection.id)]).toEqual([0, "pending"]);
  const confirmed = ok(await confirm(organisation, connection.id, { user_id: "ada", code })).data;
  expect(confirmed).toMatchObject({ status: "active", user_id: "ada", tool: "mail" });
  expect(exchanges() - before).toBe(1);
});

describe("a forwarded link", () => {
  test("attack 1: the victim consents behind the attacker's link: the application's confirm for the victim is refused, and no token is ever fetched", async () => {
    verifies("connections.confirm");
    const { organisation, provider } = testbed();
    const before = exchanges();
    // The link was made for mallory, and given to victor, who is signed in to the application as himself.
    const { connection, code } = await walk({ user_id: "mallory", login: "victor" });
    const refused = await confirm(organisation, connection.id, { user_id: "victor", code });
    expect(refused.status).toBe(409);
    // It is void, so the attacker cannot make it count afterwards.
    expect((await confirm(organisation, connection.id, { user_id: "mallory", code })).status).toBe(409);
    expect([exchanges() - before, await statusOf(connection.id)]).toEqual([0, "pending"]);
    expect(provider.tokenRequests.filter(({ status }) => status === 200)).toHaveLength(before);
  });

  test("attack 2: the attacker's finished return address, given to a victim, makes no connection", async () => {
    const { organisation } = testbed();
    const before = exchanges();
    const { connection, returned } = await walk({ user_id: "mallory" });
    // The victim's browser opens it, and the application confirms for who is signed in there.
    const code = returned.searchParams.get("code") ?? "";
    const id = returned.searchParams.get("connection_id") ?? "";
    expect((await confirm(organisation, id, { user_id: "victor", code })).status).toBe(409);
    expect([exchanges() - before, await statusOf(connection.id)]).toEqual([0, "pending"]);
  });

  test("attack 3: the victim's code with the attacker's connection, and the other way round", async () => {
    const { organisation } = testbed();
    const before = exchanges();
    const [victim, attacker] = [await walk({ user_id: "victor" }), await walk({ user_id: "mallory" })];
    const pairs = [
      [attacker.connection.id, "mallory", victim.code],
      [victim.connection.id, "victor", attacker.code],
    ] as const;
    for (const [id, user_id, code] of pairs)
      expect((await confirm(organisation, id, { user_id, code })).status).toBe(409);
    expect(exchanges() - before).toBe(0);
  });
});

describe("the way back to Perch", () => {
  test("attack 4: a callback is replayed: by the same browser, and by another one", async () => {
    verifies("connections.callback");
    const { perch } = testbed();
    const { browser, callback } = await walk({ user_id: "ada" });
    const other = openBrowser(perch);
    expect((await browser.request(callback)).status).toBe(404);
    expect((await other.request(callback)).status).toBe(404);
  });

  test("attack 4: ten callbacks at once give one code", async () => {
    const { perch, organisation } = testbed();
    const browser = openBrowser(perch);
    const { link } = await createLink(organisation, { user_id: "ada" });
    const callback = await browser.consent((await browser.press(link)).location, "ada");
    const cookie = [...browser.jar.cookies(perch.url)].map(([name, value]) => `${name}=${value}`).join("; ");
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => openBrowser(perch).request(callback, { headers: { cookie } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array<number>(9).fill(404)]);
  });

  test("attack 5: a callback after the consent was confirmed gives no second code", async () => {
    const { organisation } = testbed();
    const { browser, callback, connection, code } = await walk({ user_id: "ada" });
    ok(await confirm(organisation, connection.id, { user_id: "ada", code }));
    const again = await browser.request(callback);
    expect([again.status, again.location]).toEqual([404, ""]);
    expect(await statusOf(connection.id)).toBe("active");
  });

  test.each([
    ["no cookie", ""],
    ["the cookie of another consent", "other"],
    ["a cookie that it made up", "forged"],
  ])("attack 6: the state of another browser, with %s", async (_, kind) => {
    const { perch, organisation } = testbed();
    const victim = openBrowser(perch);
    const connection = await createLink(organisation, { user_id: "victor" });
    const callback = await victim.consent((await victim.press(connection.link)).location, "victor");
    const attacker = openBrowser(perch);
    if (kind === "other") await attacker.press((await createLink(organisation, { user_id: "mallory" })).link);
    if (kind === "forged")
      for (const name of victim.jar.cookies(perch.url).keys())
        attacker.jar.cookies(perch.url).set(name, Buffer.alloc(32).toString("base64url"));
    const refused = await attacker.request(callback);
    expect([refused.status, refused.location]).toEqual([404, ""]);
  });

  test("attack 7: the state of another connection, in the browser that opened both", async () => {
    const { perch, organisation } = testbed();
    const browser = openBrowser(perch);
    const [one, other] = [
      await createLink(organisation, { user_id: "ada" }),
      await createLink(organisation, { user_id: "bob" }),
    ];
    const callback = new URL(await browser.consent((await browser.press(one.link)).location, "ada"));
    const second = new URL((await browser.press(other.link)).location);
    // The provider's code of one, with the state of the other.
    callback.searchParams.set("state", second.searchParams.get("state") ?? "");
    const answer = await browser.request(callback.href);
    const code = answer.location === "" ? "" : (new URL(answer.location).searchParams.get("code") ?? "");
    for (const { id, user_id } of [one, other])
      expect((await confirm(organisation, id, { user_id, code: code || "none" })).status).not.toBe(200);
  });

  test("attack 8: a state is forged: every letter changed, cut off, made longer, left out, twice", async () => {
    verifies("connections.callback");
    const { perch, organisation } = testbed();
    const browser = openBrowser(perch);
    const { link, id } = await createLink(organisation, { user_id: "ada" });
    const callback = new URL(await browser.consent((await browser.press(link)).location, "ada"));
    const state = callback.searchParams.get("state") ?? "";
    const statuses = new Set<number>();
    const send = async (forged: string | undefined) => {
      const url = new URL(callback);
      url.searchParams.delete("state");
      if (forged !== undefined) url.searchParams.set("state", forged);
      statuses.add((await browser.request(url.href)).status);
    };
    for (let i = 0; i < state.length; i++)
      await send(state.slice(0, i) + (state[i] === "A" ? "B" : "A") + state.slice(i + 1));
    for (const forged of [undefined, "", state.slice(0, -1), `${state}A`, state.toUpperCase()]) await send(forged);
    statuses.add((await browser.request(`${callback.href}&state=${state}`)).status);
    expect([...statuses]).toEqual([404]);
    expect(state.length).toBeGreaterThan(60);
    // None of them used it up.
    const answer = await browser.request(callback.href);
    expect([answer.status, new URL(answer.location).searchParams.get("connection_id")]).toEqual([303, id]);
  });

  test("attack 9: authorization code injection: a code of the attacker's consent in the victim's", async () => {
    const { perch, organisation } = testbed();
    const [victim, attacker] = [openBrowser(perch), openBrowser(perch)];
    const links = [
      await createLink(organisation, { user_id: "victor" }),
      await createLink(organisation, { user_id: "mallory" }),
    ] as const;
    const own = new URL(await victim.consent((await victim.press(links[0].link)).location, "victor"));
    const stolen = new URL(await attacker.consent((await attacker.press(links[1].link)).location, "mallory"));
    own.searchParams.set("code", stolen.searchParams.get("code") ?? "");
    const { location } = await victim.request(own.href);
    const code = new URL(location).searchParams.get("code") ?? "";
    // The code counts only with the verifier of the consent that it was made in.
    const refused = await confirm(organisation, links[0].id, { user_id: "victor", code });
    expect(refused.status).toBe(409);
    expect(await statusOf(links[0].id)).toBe("pending");
  });
});

describe("the code for the application", () => {
  test("attack 10: it is guessed: one wrong code makes the consent void", async () => {
    const { organisation } = testbed();
    const { connection, code } = await walk({ user_id: "ada" });
    const wrong = Buffer.alloc(32, 7).toString("base64url");
    expect((await confirm(organisation, connection.id, { user_id: "ada", code: wrong })).status).toBe(409);
    expect((await confirm(organisation, connection.id, { user_id: "ada", code })).status).toBe(409);
    expect(await statusOf(connection.id)).toBe("pending");
  });

  test("attack 11: it is replayed: by another user, and for a connection that was revoked since", async () => {
    const { organisation } = testbed();
    const { connection, code } = await walk({ user_id: "ada" });
    ok(await confirm(organisation, connection.id, { user_id: "ada", code }));
    expect((await confirm(organisation, connection.id, { user_id: "mallory", code })).status).toBe(409);
    const params = { agent_id: "bot", connection_id: connection.id };
    ok(await organisation.call("POST /v1/agents/{agent_id}/connections/{connection_id}/revoke", { params }));
    expect((await confirm(organisation, connection.id, { user_id: "ada", code })).status).toBe(409);
    expect(await statusOf(connection.id)).toBe("revoked");
  });

  test("attack 12: ten confirm at once: one exchange, one grant", async () => {
    const { organisation } = testbed();
    const before = exchanges();
    const { connection, code } = await walk({ user_id: "ada" });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => confirm(organisation, connection.id, { user_id: "ada", code })),
    );
    expect(answers.map(({ status }) => status)).toContain(200);
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    expect([exchanges() - before, await statusOf(connection.id)]).toEqual([1, "active"]);
  });

  test("attack 13: two confirm at once, one of them for another user: it is active for its own user, or not at all", async () => {
    const { organisation } = testbed();
    const { connection, code } = await walk({ user_id: "ada" });
    const answers = await Promise.all(
      ["mallory", "ada"].map((user_id) => confirm(organisation, connection.id, { user_id, code })),
    );
    expect(answers[0]?.status).toBe(409);
    const { user_id, status } = await readConnection(organisation, connection.id);
    expect([user_id, status]).toEqual(["ada", answers[1]?.status === 200 ? "active" : "pending"]);
  });

  test("attack 14: a new link while a user is at the provider makes the earlier one void", async () => {
    const { perch, organisation } = testbed();
    await connect(perch, organisation, { user_id: "ada" });
    const { connection, browser, callback, code } = await walk({ user_id: "ada" });
    await createLink(organisation, { user_id: "ada" });
    expect((await confirm(organisation, connection.id, { user_id: "ada", code })).status).toBe(409);
    expect((await browser.request(callback)).status).toBe(404);
    expect(await statusOf(connection.id)).toBe("active");
  });
});
