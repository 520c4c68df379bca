import { describe, expect, test } from "vitest";
import { usePerch } from "../../../test/support/harness.ts";
import { depsOf } from "../../compose/core.ts";
import type { OAuthRegistration } from "../../outbound/oauth/oauth-client.ts";
import { newUuid, parsePublicId } from "../../platform/ids.ts";
import { createRegistrations, deleteRegistration, maxRegistrations } from "./registrations.ts";

const perch = usePerch();

const registration = (clientId: string, expiresAtMs: number | null = null): OAuthRegistration => ({
  kind: "registered",
  clientId,
  clientSecret: `secret of ${clientId}`,
  authMethod: "client_secret_basic",
  expiresAtMs,
});

async function createAgentRegistrations() {
  const { core } = perch().server;
  const organisationId = parsePublicId("organisation", (await perch().createOrganisation()).id) ?? "";
  const of = createRegistrations(depsOf(core));
  const agent = { organisationId, agentId: newUuid() };
  return { core, agent, of, registrations: of(agent) };
}

const [issuer, redirect] = ["https://login.example", "https://perch.example/oauth/callback/login.example"];

describe("registrations of an agent", () => {
  test("are kept for their server and redirect address, sealed, and the last one counts", async () => {
    const { core, agent, of, registrations } = await createAgentRegistrations();
    await registrations.save(issuer, redirect, registration("first"));
    await registrations.save(issuer, redirect, registration("second"));
    expect(await registrations.find(issuer, redirect)).toEqual(registration("second"));
    expect(await registrations.find("https://other.example", redirect)).toBeUndefined();
    expect(await registrations.find(issuer, `${redirect}/x`)).toBeUndefined();
    expect(await of({ ...agent, agentId: newUuid() }).find(issuer, redirect)).toBeUndefined();
    const rows = await core.db.inOrganisation(agent.organisationId, (trx) =>
      trx.selectFrom("oauth_clients").selectAll().execute(),
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.sealed_client.toString("latin1")).not.toContain("secret of");
  });

  test("that have expired do not count", async () => {
    const { registrations } = await createAgentRegistrations();
    await registrations.save(issuer, redirect, registration("old", Date.now() - 1000));
    expect(await registrations.find(issuer, redirect)).toBeUndefined();
    await registrations.save(issuer, redirect, registration("new", Date.now() + 60_000));
    expect(await registrations.find(issuer, redirect)).toMatchObject({ clientId: "new" });
  });

  test("can be forgotten", async () => {
    const { core, agent, registrations } = await createAgentRegistrations();
    await registrations.save(issuer, redirect, registration("gone"));
    const configuration = { issuer, redirectUri: redirect };
    await core.db.inOrganisation(agent.organisationId, (trx) => deleteRegistration(trx, agent, configuration));
    expect(await registrations.find(issuer, redirect)).toBeUndefined();
  });

  test(`are limited to ${maxRegistrations}: the oldest goes`, async () => {
    const { core, agent, registrations } = await createAgentRegistrations();
    for (let i = 0; i <= maxRegistrations; i++)
      await registrations.save(`https://${i}.example`, redirect, registration(String(i)));
    const { count } = await core.db.inOrganisation(agent.organisationId, (trx) =>
      trx
        .selectFrom("oauth_clients")
        .select(({ fn }) => fn.countAll<string>().as("count"))
        .executeTakeFirstOrThrow(),
    );
    expect(Number(count)).toBe(maxRegistrations);
    expect(await registrations.find("https://0.example", redirect)).toBeUndefined();
    expect(await registrations.find(`https://${maxRegistrations}.example`, redirect)).toBeDefined();
  });
});
