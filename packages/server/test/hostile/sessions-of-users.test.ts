import { createHmac } from "node:crypto";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { afterAll, describe, expect, test } from "vitest";
import { parsePublicId } from "../../src/platform/ids.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createScriptedAgent, type InvokeResponse, invokeAgent } from "../support/invoke-calls.ts";

const script = await startScriptServer((call) => {
  const message = lastUserMessage(call);
  return { reply: `re: ${message}`, delay_ms: message.startsWith("slow") ? 5000 : 0 };
});
const perch = usePerch({ scriptModelUrl: script.url, valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
afterAll(() => script.close());

const secret = "a secret that has 32 bytes or more";
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
function tokenOf(user_id: string): string {
  const iat = Math.floor(Date.now() / 1000);
  const body = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ user_id, iat, exp: iat + 600 })}`;
  return `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}`;
}

async function createOrganisationWithAgent(auth?: object): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  if (!auth) await createScriptedAgent(organisation);
  else {
    const body = { name: "bot", model: "perch/script", auth: auth as never };
    ok(await organisation.call("POST /v1/agents", { body }));
  }
  return organisation;
}

interface Message {
  readonly message: string;
  readonly user?: string;
  readonly session?: string;
  /** The user of the token. */
  readonly token?: string;
  readonly idempotencyKey?: string;
}

const send = (
  { adminKey }: Organisation,
  { message, user, session = "s", token, idempotencyKey }: Message,
): Promise<InvokeResponse> => {
  const headers = {
    ...(token !== undefined && { "x-user-token": tokenOf(token) }),
    ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
  };
  const context = { session_id: session, ...(user !== undefined && { user_id: user }) };
  return invokeAgent(perch(), adminKey, { message, context }, { headers });
};

async function sendOk(organisation: Organisation, message: Message): Promise<void> {
  const { status, text } = await send(organisation, message);
  if (status !== 200) throw new Error(text);
}

/** The model's input in the last call for this message, without the message itself. */
function historySentWith(message: string): string[] {
  const call = script.calls.findLast((one) => lastUserMessage(one) === message);
  if (!call) throw new Error(`the model was never asked ${message}`);
  return call.messages.map(({ content }) => content).slice(0, -1);
}

describe("one session id of two users", () => {
  test("is two sessions: neither sees the messages of the other, nor does a caller without a user", async () => {
    const organisation = await createOrganisationWithAgent();
    await sendOk(organisation, { message: "of ada", user: "ada" });
    await sendOk(organisation, { message: "of no user" });
    await sendOk(organisation, { message: "of bob", user: "bob" });
    for (const message of ["of ada", "of no user", "of bob"]) expect(historySentWith(message)).toEqual([]);
    await sendOk(organisation, { message: "again ada", user: "ada" });
    await sendOk(organisation, { message: "again no user" });
    expect(historySentWith("again ada")).toEqual(["of ada", "re: of ada"]);
    expect(historySentWith("again no user")).toEqual(["of no user", "re: of no user"]);
  });

  test("is two queues: a turn that one user waits for does not block the other", async () => {
    const organisation = await createOrganisationWithAgent();
    const slow = send(organisation, { message: "slow of ada", user: "ada" });
    await expect.poll(() => script.calls.some((call) => lastUserMessage(call) === "slow of ada")).toBe(true);
    const startedAt = performance.now();
    await sendOk(organisation, { message: "quick of bob", user: "bob" });
    expect(performance.now() - startedAt).toBeLessThan(4000);
    expect((await slow).status).toBe(200);
  });

  test("stores every turn of thirty users who begin at the same moment", async () => {
    const organisation = await createOrganisationWithAgent();
    const users = Array.from({ length: 30 }, (_, i) => `user ${i}`);
    await Promise.all(users.map((user) => sendOk(organisation, { message: `from ${user}`, user, session: "crowd" })));
    // As if all had been accepted in the same millisecond, so that only the key of the table distinguishes them.
    const { rows } = await withClient(perch().database.adminUrl, (client) =>
      client.query(
        `with m as (update session_messages set accepted_at = date_trunc('day', accepted_at) + interval '12 hours'
           where session_id = 'crowd' returning owner, turn, position)
         select count(*)::int as messages, count(distinct owner)::int as owners, max(turn) as turns from m`,
      ),
    );
    expect(rows).toEqual([{ messages: 60, owners: 30, turns: 1 }]);
  });

  test("cannot be forged with slashes: other parts never make the same session", async () => {
    const organisation = await createOrganisationWithAgent();
    const odd: Message[] = [
      { message: "1", user: "a/b", session: "c" },
      { message: "2", user: "a", session: "b/c" },
      { message: "3", session: "a/b/c" },
      { message: "4", user: "=a", session: "b/c" },
      { message: "5", user: "~", session: "b/c" },
      { message: "6", session: "b/c" },
    ];
    for (const message of odd) await sendOk(organisation, message);
    for (const { message } of odd) expect(historySentWith(message)).toEqual([]);
  });
});

describe("the user of a verified token", () => {
  test("is the user of the run: two tokens are two sessions, and the record names the user", async () => {
    const organisation = await createOrganisationWithAgent({ type: "jwt", secret });
    await sendOk(organisation, { message: "token ada", token: "ada" });
    await sendOk(organisation, { message: "token bob", token: "bob" });
    expect(historySentWith("token bob")).toEqual([]);
    await sendOk(organisation, { message: "token ada again", token: "ada", user: "ada" });
    expect(historySentWith("token ada again")).toEqual(["token ada", "re: token ada"]);
    const { rows } = await withClient(perch().database.adminUrl, (client) =>
      client.query("select user_id from invocations where organisation_id = $1 order by accepted_at", [
        parsePublicId("organisation", organisation.id),
      ]),
    );
    expect(rows.map(({ user_id }) => user_id)).toEqual(["ada", "bob", "ada"]);
  });

  test("403 for a request that names another user than its token", async () => {
    const organisation = await createOrganisationWithAgent({ type: "jwt", secret });
    const { status, error } = await send(organisation, { message: "forged", token: "bob", user: "ada" });
    expect({ status, code: error.code }).toEqual({ status: 403, code: "forbidden" });
    expect(error.message).toContain("Leave it out");
  });

  test("409 for the Idempotency-Key of another user: no user gets the answer to another", async () => {
    const organisation = await createOrganisationWithAgent({ type: "jwt", secret });
    const message = { message: "mine", idempotencyKey: "k" };
    const first = await send(organisation, { ...message, token: "ada" });
    expect(first.status).toBe(200);
    expect((await send(organisation, { ...message, token: "bob" })).status).toBe(409);
    const repeated = await send(organisation, { ...message, token: "ada" });
    expect([repeated.status, repeated.text]).toEqual([200, first.text]);
  });
});
