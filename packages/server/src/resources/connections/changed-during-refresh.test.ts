import { type AccountProvider, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accountConfig, perchUrl } from "../../../test/support/connected-accounts.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { createConnectedUser, createWorker } from "../../../test/support/refresh-workers.ts";
import type { OAuthTokens } from "../../outbound/oauth/oauth-client.ts";
import { OAuthFailure } from "../../outbound/oauth/oauth-failure.ts";
import { NotConnectedError } from "../../outbound/tools/find-token.ts";

const perch = usePerch(accountConfig);
let provider: AccountProvider;
beforeAll(async () => {
  provider = await startAccountProvider({ perch: [perchUrl] });
});
afterAll(() => provider.stop());

const isTaken = async (token: string) => (await provider.verifyToken(token))?.user;
const change = (statement: string, values: readonly unknown[] = []) =>
  withClient(perch().database.adminUrl, (client) => client.query(statement, [...values]));

describe("a connection that is changed while it is refreshed", () => {
  test.each(["pending", "done"])(
    "one that is revoked while it is refreshed, whose provider is %s: its new tokens are stored to be revoked too",
    async (told) => {
      verifies("connections.revoke");
      const { find, read } = await createConnectedUser(perch(), provider);
      let tokens: OAuthTokens | undefined;
      const worker = createWorker(perch(), (refresh) => async (...args) => {
        tokens = await refresh(...args);
        await change(
          `update connections set status = 'revoked', revoked_at = now(), revoked_at_provider = $1,
           sealed_grant = case when $1 = 'pending' then sealed_grant end where status = 'active'`,
          [told],
        );
        return tokens;
      });
      await expect(find(worker)).rejects.toBeInstanceOf(NotConnectedError);
      const row = await read();
      expect(row).toMatchObject({ status: "revoked", revoked_at_provider: "pending", generation: 2 });
      expect(row.grant?.tokens).toEqual(tokens);
    },
  );

  test("one that is erased while it is refreshed: its new tokens are revoked at the provider", async () => {
    verifies("connections.revoke");
    const { find } = await createConnectedUser(perch(), provider);
    let tokens: OAuthTokens | undefined;
    const worker = createWorker(perch(), (refresh) => async (...args) => {
      tokens = await refresh(...args);
      await change("delete from connections where status = 'active'");
      return tokens;
    });
    await expect(find(worker)).rejects.toBeInstanceOf(NotConnectedError);
    expect(await isTaken(tokens?.accessToken ?? "")).toBeUndefined();
  });

  test.each([
    ["at the same provider: the tokens that came too late are not revoked, which could end the new consent", true],
    ["at another provider: they are revoked", false],
  ])("one that is connected again while it is refreshed, %s", async (_, isSame) => {
    const { find } = await createConnectedUser(perch(), provider);
    let tokens: OAuthTokens | undefined;
    const worker = createWorker(perch(), (refresh) => async (...args) => {
      tokens = await refresh(...args);
      const issuer = isSame ? provider.issuer : "https://other.example";
      await change(
        "update connections set generation = 7, issuer = $1, access_expires_at = null where generation = 1 and status = 'active'",
        [issuer],
      );
      return tokens;
    });
    await find(worker).catch(() => undefined);
    expect(await isTaken(tokens?.accessToken ?? "")).toBe(isSame ? "ada" : undefined);
  });

  test.each([
    ["revoked", "status = 'revoked', revoked_at = now(), revoked_at_provider = 'done', sealed_grant = null"],
    ["connected again", "generation = 2"],
  ])("one that is %s while its refresh fails: the token of before is not sent", async (_, update) => {
    verifies("connections.revoke");
    const { find } = await createConnectedUser(perch(), provider, 240);
    const worker = createWorker(perch(), () => async () => {
      await change(`update connections set ${update} where generation = 1 and status = 'active'`);
      throw new OAuthFailure("refused", "It was revoked.");
    });
    const found = await find(worker).catch((error: unknown) => error);
    if (update === "generation = 2") expect(found).toMatchObject({ generation: 2 });
    else expect(found).toBeInstanceOf(NotConnectedError);
  });
});
