import { type AccountProvider, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { accountConfig, perchUrl } from "../../../test/support/connected-accounts.ts";
import { ok } from "../../../test/support/contract-client.ts";
import { type ApiNode, usePerch } from "../../../test/support/harness.ts";
import { createConnectedUser, createWorker, withDatabase } from "../../../test/support/refresh-workers.ts";
import { setAccessExpiry } from "../../../test/support/stored-connections.ts";
import { NotConnectedError } from "../../outbound/tools/find-token.ts";
import { TransientToolError } from "../../outbound/tools/tool-errors.ts";

const perch = usePerch(accountConfig);
let provider: AccountProvider;
let second: ApiNode;
beforeAll(async () => {
  provider = await startAccountProvider({ perch: [perchUrl] });
  second = await perch().addApiNode();
});
afterAll(() => provider.stop());
afterEach(() => provider.setTokenEndpoint("up"));

const connectUser = (expiresInSeconds?: number) => createConnectedUser(perch(), provider, expiresInSeconds);
const isTaken = async (token: string) => (await provider.verifyToken(token))?.user;
const change = (statement: string, values: readonly unknown[] = []) =>
  withClient(perch().database.adminUrl, (client) => client.query(statement, [...values]));
const endClaims = () => change("update connections set refresh_claimed_until = now() - interval '1 second'");

describe("refreshing the tokens of an account", () => {
  test("a hundred calls at once on two workers with an expired token: one refresh, and all get its token", async () => {
    verifies("connections.refresh");
    const { find, read, countRefreshes } = await connectUser();
    const workers = [createWorker(perch()), createWorker(second)];
    const found = await Promise.all(Array.from({ length: 100 }, (_, i) => find(workers[i % 2] as (typeof workers)[0])));
    expect(countRefreshes()).toBe(1);
    const [value = ""] = new Set(found.map((token) => token.value));
    expect(new Set(found.map((token) => token.value)).size).toBe(1);
    expect(await isTaken(value)).toBe("ada");
    const row = await read();
    expect(row).toMatchObject({ status: "active", generation: 2, refresh_claimed_until: null });
    expect(row.grant?.tokens.accessToken).toBe(value);
    expect(row.last_refreshed_at).not.toBeNull();
  });

  test("a token that ends within five minutes is refreshed once, while others use it", async () => {
    verifies("connections.refresh");
    const { find, countRefreshes, read } = await connectUser(240);
    const before = (await read()).grant?.tokens.accessToken;
    let isUnderWay: (value?: unknown) => void = () => undefined;
    let finish: (value?: unknown) => void = () => undefined;
    const underWay = new Promise((resolve) => {
      isUnderWay = resolve;
    });
    const finished = new Promise((resolve) => {
      finish = resolve;
    });
    const slow = createWorker(perch(), (refresh) => async (...args) => {
      isUnderWay();
      await finished;
      return refresh(...args);
    });
    const first = find(slow);
    await underWay;
    const meanwhile = await find(createWorker(second));
    expect(meanwhile).toEqual({ value: before, generation: 1 });
    finish();
    expect((await first).generation).toBe(2);
    expect(countRefreshes()).toBe(1);
  });

  test("an unused account is never refreshed, nor one that is far from its end", async () => {
    verifies("connections.idle");
    const { find, countRefreshes } = await connectUser(600);
    const requests = provider.requests.length;
    await find(createWorker(perch()));
    expect(countRefreshes()).toBe(0);
    expect(provider.requests.length).toBe(requests);
  });

  test("a provider that is down: valid tokens are used, ended ones never, it is asked once in two seconds, and recovers", async () => {
    verifies("connections.refresh");
    const { find, organisation, connection, read, countRefreshes } = await connectUser(240);
    const worker = createWorker(perch());
    provider.setTokenEndpoint({ status: 503 });
    expect((await find(worker)).generation).toBe(1);
    await setAccessExpiry(perch(), organisation, connection, -1);
    await endClaims();
    const before = provider.requests.length;
    const startedAt = Date.now();
    const failures = await Promise.all(
      Array.from({ length: 20 }, () => find(worker).catch((error: unknown) => error as Error)),
    );
    for (const failure of failures) expect(failure).toBeInstanceOf(TransientToolError);
    expect(String(failures[0])).toContain("answered 503");
    const asked = provider.requests.length - before;
    expect(asked).toBeLessThanOrEqual(1 + Math.ceil((Date.now() - startedAt) / 2000));
    provider.setTokenEndpoint("up");
    const { value, generation } = await find(worker);
    expect([await isTaken(value), generation]).toEqual(["ada", 2]);
    expect(countRefreshes()).toBe(1);
    expect(await read()).toMatchObject({ status: "active", reason: null });
  });

  test("a provider that is down is in the log as a warning, once a minute", async () => {
    const warn = vi.spyOn(perch().server.core.logger, "warn");
    const { find } = await connectUser();
    const worker = createWorker(perch());
    provider.setTokenEndpoint({ status: 503 });
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(find(worker)).rejects.toThrow();
      await endClaims();
    }
    const warnings = warn.mock.calls.filter(([, message]) => message === "connection not refreshed, will retry");
    expect(warnings).toEqual([[expect.objectContaining({ issuer: provider.issuer }), expect.any(String)]]);
    warn.mockRestore();
  });

  test("others wait for a worker that refreshes, and fail with it", async () => {
    verifies("connections.refresh");
    const { find, countRefreshes } = await connectUser();
    let fail: (reason: Error) => void = () => undefined;
    let isUnderWay = false;
    const failing = createWorker(perch(), () => () => {
      isUnderWay = true;
      return new Promise((_, reject) => {
        fail = reject;
      });
    });
    const first = find(failing).catch((error: unknown) => error);
    await expect.poll(() => isUnderWay).toBe(true);
    const other = find(createWorker(second)).catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(countRefreshes()).toBe(0);
    fail(new TransientToolError("The provider is down."));
    expect(String(await first)).toContain("The provider is down.");
    expect(await other).toBeInstanceOf(TransientToolError);
    expect(countRefreshes()).toBe(0);
    expect((await find(createWorker(second))).generation).toBe(2);
  });

  test("a run that has no time to wait for a provider gets the reason of its wait", async () => {
    const { find, read } = await connectUser();
    provider.setTokenEndpoint("hang");
    const error: unknown = await find(createWorker(perch()), { signal: AbortSignal.timeout(300) }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(TransientToolError);
    expect(String(error)).toContain("was not called. Its provider has not given a new access token in time.");
    expect((await read()).status).toBe("active");
  });

  test("a call that is cancelled while its row is read starts no refresh, whose failure would be unhandled", async () => {
    verifies("connections.refresh");
    const { find, read } = await connectUser();
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const cancelled = new AbortController();
    const { core } = perch().server;
    const onBehalfOf: typeof core.db.onBehalfOf = async (organisationId, work) => {
      const found = await core.db.onBehalfOf(organisationId, work);
      cancelled.abort(new Error("cancelled"));
      return found;
    };
    const failing = vi.fn(() => Promise.reject(new TransientToolError("The provider is down.")));
    const worker = createWorker(withDatabase(perch(), { onBehalfOf }), () => failing);
    await expect(find(worker, { signal: cancelled.signal })).rejects.toThrow("cancelled");
    await new Promise((resolve) => setTimeout(resolve, 300));
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    expect(failing).not.toHaveBeenCalled();
    expect((await read()).refresh_claimed_until).toBeNull();
  });

  test("a worker that stood still for longer than its claim replaces nothing", async () => {
    verifies("connections.refresh");
    const { find, read, countRefreshes } = await connectUser();
    let resume: (value?: unknown) => void = () => undefined;
    const resumed = new Promise((resolve) => {
      resume = resolve;
    });
    let hasTokens = false;
    const stopped = createWorker(perch(), () => async (_, configuration) => {
      hasTokens = true;
      await resumed;
      return {
        accessToken: "late-access-token",
        refreshToken: "late-refresh-token",
        expiresAtMs: null,
        scopes: configuration.scopes,
      };
    });
    const late = find(stopped);
    await expect.poll(() => hasTokens).toBe(true);
    await endClaims();
    const winner = await find(createWorker(second));
    expect(await isTaken(winner.value)).toBe("ada");
    resume();
    expect(await late).toEqual(winner);
    expect(countRefreshes()).toBe(1);
    expect((await read()).grant?.tokens.accessToken).toBe(winner.value);
  });

  test("a refusal that a worker gets after its claim has ended does not count: another may have used the refresh token", async () => {
    verifies("connections.refresh");
    const { find, read } = await connectUser();
    const { OAuthFailure } = await import("../../outbound/oauth/oauth-failure.ts");
    const late = createWorker(perch(), () => async () => {
      await endClaims();
      throw new OAuthFailure("refused", "It was used before.");
    });
    await expect(find(late)).rejects.toBeInstanceOf(TransientToolError);
    expect(await read()).toMatchObject({ status: "active", generation: 1 });
    expect((await find(createWorker(second))).generation).toBe(2);
  });

  test("a consent that the provider withdrew: one state, one event, and how to mend it", async () => {
    verifies("connections.needs-reauth");
    const { find, read, organisation, agentId } = await connectUser();
    provider.revokeGrants("ada");
    const workers = [createWorker(perch()), createWorker(second)];
    const failures = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        find(workers[i % 2] as (typeof workers)[0]).catch((error: unknown) => error),
      ),
    );
    for (const failure of failures) expect(failure).toBeInstanceOf(NotConnectedError);
    expect(String(failures[0])).toContain("no longer accepts the user's consent (400 invalid_grant)");
    expect(String(failures[0])).toContain(`\`POST /v1/agents/${agentId}/connections\` with \`"tool": "book"\``);
    const row = await read();
    expect(row).toMatchObject({ status: "needs_reauth", reason: expect.stringMatching(/\(400 invalid_grant\)\.$/) });
    const { data: events } = ok(
      await organisation.call("GET /v1/events", { query: { type: "connection.needs_reauth" } }),
    );
    expect(events.map(({ data }) => data)).toMatchObject([{ status: "needs_reauth", user_id: "ada", tool: "book" }]);
    expect(JSON.stringify(events)).not.toContain(row.grant?.tokens.refreshToken);
    expect(workers.reduce((sum, worker) => sum + worker.dispatchDeliveries.mock.calls.length, 0)).toBe(1);
  });

  test("a token that has ended and cannot be renewed needs a new consent", async () => {
    verifies("connections.needs-reauth");
    const without = await startAccountProvider({ perch: [perchUrl], refreshTokens: false });
    try {
      const { find, organisation, connection, read } = await createConnectedUser(perch(), without, 60);
      const worker = createWorker(perch());
      expect((await find(worker)).generation).toBe(1);
      await setAccessExpiry(perch(), organisation, connection, -1);
      await expect(find(worker)).rejects.toBeInstanceOf(NotConnectedError);
      expect(await read()).toMatchObject({ status: "needs_reauth" });
    } finally {
      await without.stop();
    }
  });

  test("a token that the tool refused is replaced once; one that was replaced a moment ago is given back", async () => {
    verifies("connections.refresh");
    const { find, countRefreshes } = await connectUser(3600);
    const worker = createWorker(perch());
    const first = await find(worker);
    const rejections = await Promise.all(Array.from({ length: 20 }, () => find(worker, { rejected: first })));
    expect(new Set(rejections.map(({ generation }) => generation))).toEqual(new Set([2]));
    expect(countRefreshes()).toBe(1);
    const [second2 = first] = rejections;
    expect(await find(worker, { rejected: second2 })).toEqual(second2);
    expect(countRefreshes()).toBe(1);
  });

  test("a worker that stood still after its claim sends no refresh token: another may be using it", async () => {
    verifies("connections.refresh");
    const { find, countRefreshes, read } = await connectUser();
    const { core } = perch().server;
    let stoodMs = 0;
    const inOrganisation: typeof core.db.inOrganisation = async (organisationId, work) => {
      const result = await core.db.inOrganisation(organisationId, work);
      stoodMs = 11_000;
      return result;
    };
    const asked = provider.requests.length;
    const stopped = createWorker(withDatabase(perch(), { inOrganisation }), undefined, () => core.nowMs() + stoodMs);
    await expect(find(stopped)).rejects.toThrow("took too long");
    expect(provider.requests.length).toBe(asked);
    expect(await read()).toMatchObject({ status: "active", generation: 1 });
    expect((await find(createWorker(second))).generation).toBe(2);
    expect(countRefreshes()).toBe(1);
  });

  test("a database that does not take the new tokens is asked again: they would be lost", async () => {
    const { find, read } = await connectUser();
    const { core } = perch().server;
    let refusals = 0;
    let isRefreshed = false;
    const inOrganisation: typeof core.db.inOrganisation = (organisationId, work) => {
      if (!isRefreshed || refusals >= 2) return core.db.inOrganisation(organisationId, work);
      refusals++;
      return Promise.reject(new Error("no connection"));
    };
    const worker = createWorker(withDatabase(perch(), { inOrganisation }), (refresh) => async (...args) => {
      const tokens = await refresh(...args);
      isRefreshed = true;
      return tokens;
    });
    expect((await find(worker)).generation).toBe(2);
    expect(refusals).toBe(2);
    expect((await read()).generation).toBe(2);
  });
});
