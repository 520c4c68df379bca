import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test, vi } from "vitest";
import { useConsentTestbed } from "../../../test/support/consent-testbed.ts";
import { connect, createLink, openBrowser, readConnection } from "../../../test/support/consents.ts";
import { ok } from "../../../test/support/contract-client.ts";
import { readConnection as readRow } from "../../../test/support/stored-connections.ts";

const testbed = useConsentTestbed();

const revoke = async (connection_id: string) =>
  ok(
    await testbed().organisation.call("POST /v1/agents/{agent_id}/connections/{connection_id}/revoke", {
      params: { agent_id: "bot", connection_id },
    }),
  ).data;

describe("POST /v1/agents/{agent_id}/connections/{connection_id}/revoke", () => {
  test("gives the connection up, informs the provider, and deletes the tokens", async () => {
    verifies("connections.revoke");
    const { organisation, perch, provider } = testbed();
    const { id } = await connect(perch, organisation, { user_id: "ada" });
    const { accessToken = "" } = (await readRow(perch, organisation, id)).grant?.tokens ?? {};
    expect(await provider.verifyToken(accessToken)).toBeDefined();
    const revoked = await revoke(id);
    expect(revoked).toMatchObject({ id, status: "revoked", provider_revocation: "done" });
    expect(await readConnection(organisation, id)).toEqual(revoked);
    expect(await provider.verifyToken(accessToken)).toBeUndefined();
    expect((await readRow(perch, organisation, id)).sealed_grant).toBeNull();
  });

  test("tokens that were replaced while the provider was asked are kept, so that it is asked about them, too", async () => {
    const { organisation, perch } = testbed();
    const { id } = await connect(perch, organisation, { user_id: "ada" });
    const { oauth } = perch.server.core.outbound;
    const { revoke: revokeTokens } = oauth;
    vi.spyOn(oauth, "revoke").mockImplementationOnce(async (...given) => {
      const result = await revokeTokens(...given);
      await connect(perch, organisation, { user_id: "ada" });
      return result;
    });
    expect(await revoke(id)).toMatchObject({ status: "revoked", provider_revocation: "pending" });
    expect((await readRow(perch, organisation, id)).grant).not.toBeNull();
  });

  test("again changes nothing", async () => {
    const { organisation, perch } = testbed();
    const { id } = await connect(perch, organisation, { user_id: "ada" });
    await revoke(id);
    const shown = await readConnection(organisation, id);
    expect(await revoke(id)).toEqual(shown);
    const { data } = ok(await organisation.call("GET /v1/audit-log", {}));
    expect(data.filter(({ operation }) => operation === "revokeConnection")).toHaveLength(1);
  });

  test("an unused link is void, and no provider is asked to revoke", async () => {
    const { organisation, perch } = testbed();
    const { id, link } = await createLink(organisation, { user_id: "ada" });
    expect(await revoke(id)).toMatchObject({ status: "revoked", provider_revocation: null });
    expect((await openBrowser(perch).request(link)).status).toBe(404);
  });

  test("the caller does not wait for a provider that is down: it is revoked here, and pending there", async () => {
    const { organisation, perch, provider } = testbed();
    const { id } = await connect(perch, organisation, { user_id: "ada" });
    await provider.stop();
    try {
      const began = Date.now();
      expect(await revoke(id)).toMatchObject({ status: "revoked", provider_revocation: "pending" });
      expect(Date.now() - began).toBeLessThan(5000);
    } finally {
      await provider.start();
    }
    const row = await readRow(perch, organisation, id);
    expect(row).toMatchObject({ status: "revoked", revoked_at_provider: "pending" });
    expect(row.sealed_grant).not.toBeNull();
  });
});
