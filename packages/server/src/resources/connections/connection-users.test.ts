import { createHmac } from "node:crypto";
import type { Connection } from "@perch/contract";
import { beforeEach, describe, expect, test } from "vitest";
import { useConsentTestbed } from "../../../test/support/consent-testbed.ts";
import { connectedTool, openBrowser } from "../../../test/support/consents.ts";
import { ok } from "../../../test/support/contract-client.ts";
import { sendRawRequest } from "../../../test/support/raw-request.ts";

const testbed = useConsentTestbed();
const secret = "a secret that has 32 bytes or more";
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

const signToken = (user_id: string): string => {
  const seconds = Math.floor(Date.now() / 1000);
  const body = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ user_id, iat: seconds, exp: seconds + 600 })}`;
  return `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}`;
};

let key: string;
beforeEach(async () => {
  const { organisation, mail, provider } = testbed();
  const tools = [connectedTool(mail.url, provider.issuer)];
  const body = { name: "private", model: "perch/script", tools, auth: { type: "jwt", secret } };
  ok(await organisation.call("POST /v1/agents", { body } as never));
  // The key that sets `auth` has a grace period of an hour, so another one asks.
  key = await organisation.createKey({ permissions: ["read", "write"] });
});

interface Answer {
  readonly status: number;
  readonly body: { readonly data: Connection & Connection[] & { readonly link: string } };
}

/** As the application of this user, who is signed in there. */
const as = (user: string | undefined, method: string, path: string, body?: object) =>
  sendRawRequest(`${testbed().perch.url}/v1/agents/private/connections${path}`, {
    method,
    key,
    headers: user === undefined ? {} : { "x-user-token": signToken(user) },
    body,
  }) as unknown as Promise<Answer>;

const createAs = async (user: string) => (await as(user, "POST", "", { user_id: user, tool: "mail" })).body.data;

async function consent(link: string, login: string): Promise<string> {
  const browser = openBrowser(testbed().perch);
  const { location } = await browser.press(link);
  const answer = await browser.request(await browser.consent(location, login));
  return new URL(answer.location).searchParams.get("code") ?? "";
}

describe("if users have tokens", () => {
  test("a user connects, sees and revokes their own account, and no other's", async () => {
    const { id, link } = await createAs("ada");
    const code = await consent(link, "ada");
    expect((await as("ada", "POST", `/${id}/confirm`, { user_id: "ada", code })).status).toBe(200);
    expect((await as("ada", "GET", `/${id}`)).body.data).toMatchObject({ status: "active" });
    expect((await as("ada", "GET", "")).body.data.map((shown) => shown.id)).toEqual([id]);
    expect((await as("bob", "GET", "")).body.data).toEqual([]);
    expect((await as("bob", "GET", "?user_id=ada")).status).toBe(403);
    expect((await as("bob", "GET", `/${id}`)).status).toBe(404);
    expect((await as("bob", "POST", `/${id}/revoke`)).status).toBe(404);
    expect((await as("ada", "GET", `/${id}`)).body.data).toMatchObject({ status: "active" });
    expect((await as("ada", "POST", `/${id}/revoke`)).body.data).toMatchObject({ status: "revoked" });
  });

  test("a user id that the database would store differently is refused, so that it cannot name another user", async () => {
    const stored = await createAs("a\ufffd");
    for (const user of ["a\ud800", "a\0"]) {
      expect((await as(user, "GET", "")).status).toBe(401);
      expect((await as(user, "POST", `/${stored.id}/revoke`)).status).toBe(401);
      expect((await as("a\ufffd", "POST", "", { user_id: user, tool: "mail" })).status).toBe(400);
    }
  });

  test("a user cannot ask for a link, or confirm, for another user or without a token", async () => {
    expect((await as("bob", "POST", "", { user_id: "ada", tool: "mail" })).status).toBe(403);
    expect((await as(undefined, "POST", "", { user_id: "ada", tool: "mail" })).status).toBe(401);
    const { id, link } = await createAs("ada");
    const code = await consent(link, "ada");
    expect((await as("bob", "POST", `/${id}/confirm`, { user_id: "ada", code })).status).toBe(403);
    expect((await as(undefined, "POST", `/${id}/confirm`, { user_id: "ada", code })).status).toBe(401);
    expect((await as("ada", "POST", `/${id}/confirm`, { user_id: "ada", code })).status).toBe(200);
  });

  test("another user's guess does not change the link; with the code itself it is void", async () => {
    const { id, link } = await createAs("ada");
    const code = await consent(link, "ada");
    expect((await as("bob", "POST", `/${id}/confirm`, { user_id: "bob", code: "guess" })).status).toBe(404);
    expect((await as("ada", "POST", `/${id}/confirm`, { user_id: "ada", code })).status).toBe(200);
    const forwarded = await createAs("ada");
    const ofBob = await consent(forwarded.link, "bob");
    expect((await as("bob", "POST", `/${id}/confirm`, { user_id: "bob", code: ofBob })).status).toBe(404);
    expect((await as("ada", "POST", `/${id}/confirm`, { user_id: "ada", code: ofBob })).status).toBe(409);
  });
});
