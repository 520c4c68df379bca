import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "@perch/testkit/services/commands.ts";
import { logProgress } from "../log-progress.ts";
import { countStale, expireToken, usedTokens } from "./access-tokens.ts";
import type { Installation } from "./installation.ts";
import { judgeRuns } from "./judge-runs.ts";
import { runAll, runFor } from "./runs.ts";
import { type Result, type Scene, unless } from "./scene.ts";
import { server } from "./users.ts";

const refreshesAt = ({ provider }: Installation): number => provider.countTokenRequests("refresh_token");

/** Runs of both people in turn, on one agent. */
export async function interleave({ installation, tenant, ada, bob }: Scene, runs: number): Promise<Result> {
  const from = installation.mcp.calls.length;
  const startedMs = performance.now();
  const done = await runAll(tenant, [ada, bob], runs, 24);
  const seconds = (performance.now() - startedMs) / 1000;
  const { mixedUp, failed } = judgeRuns(done, installation.mcp.calls.slice(from));
  logProgress(`${done.length} interleaved runs of two users in ${seconds.toFixed(1)} s`);
  return {
    figures: { interleaved_runs: done.length, mixed_up: mixedUp.length, interleaved_failed: failed.length },
    problems: [...mixedUp, ...failed],
  };
}

/** Many runs at once, whose access token has ended. */
export async function refreshOnce({ installation, tenant, ada, connections }: Scene, runs: number): Promise<Result> {
  const stale = usedTokens(installation, ada);
  await expireToken(installation, connections.ada.id);
  const [calls, requests, refreshes] = [
    installation.mcp.calls.length,
    installation.mcp.requests.length,
    refreshesAt(installation),
  ];
  const done = await runAll(tenant, [ada], runs, runs);
  const { mixedUp, failed } = judgeRuns(done, installation.mcp.calls.slice(calls));
  const made = refreshesAt(installation) - refreshes;
  const staleUses = countStale(installation, requests, stale);
  logProgress(`${runs} runs at once with an expired access token: ${made} refreshes`);
  return {
    figures: { runs_at_once: done.length, refreshes: made, stale_after_expiry: staleUses },
    problems: [
      ...mixedUp,
      ...failed,
      ...unless(made === 1, `${made} refreshes for ${runs} runs at once`),
      ...unless(staleUses === 0, `an expired token was sent ${staleUses} times`),
    ],
  };
}

/** Both workers die while a refresh is under way: the run goes on elsewhere, and the consent is not lost. */
export async function killDuringRefresh(scene: Scene): Promise<Result> {
  const { installation, tenant, ada, connections } = scene;
  const { provider, workers } = installation;
  provider.setTokenEndpoint("hang");
  await expireToken(installation, connections.ada.id);
  const tokenRequests = () => provider.requests.filter((request) => request === "POST /token").length;
  const [asked, refreshes] = [tokenRequests(), refreshesAt(installation)];
  const run = runFor(tenant, ada);
  const isUnderWay = await waitUntil(() => tokenRequests() > asked, 20);
  await Promise.all(workers.map(({ kill }) => kill()));
  const killedMs = performance.now();
  provider.setTokenEndpoint("up");
  await Promise.all(workers.map(({ start }) => start("before")));
  const { status, answer } = await run;
  const seconds = (performance.now() - killedMs) / 1000;
  const made = refreshesAt(installation) - refreshes;
  const { status: state } = await tenant.findConnection(ada);
  logProgress(
    `workers killed during a refresh: the run went on and ended ${seconds.toFixed(1)} s later, ${made} refreshes`,
  );
  return {
    figures: { killed_refresh_seconds: Math.round(seconds * 10) / 10, killed_refresh_refreshes: made },
    problems: [
      ...unless(isUnderWay, "no refresh was under way when the workers were killed"),
      ...unless(status === 200 && answer === ada.login, `the run of the killed refresh: ${status} ${answer}`),
      ...unless(made === 1, `${made} refreshes after the workers were killed`),
      ...unless(state === "active", `the connection is ${state} after the workers were killed`),
    ],
  };
}

/** The provider no longer accepts the refresh token: expects one state, one event, and one new link that repairs it. */
export async function revokeGrant(scene: Scene): Promise<Result> {
  const { installation, tenant, bob, connections } = scene;
  const { provider, receiver, mcp } = installation;
  provider.revokeGrants(bob.login);
  await expireToken(installation, connections.bob.id);
  const calls = mcp.calls.length;
  const refused = await Promise.all(Array.from({ length: 20 }, () => runFor(tenant, bob, { tool: server })));
  const { status, reason } = await tenant.findConnection(bob);
  const unrevoked = refused.filter(({ answer }) => !/connect/i.test(answer));
  const events = () => receiver.received.filter(({ event }) => event.data.id === connections.bob.id);
  await waitUntil(() => events().length > 0, 30);
  // Long enough for a second one, if there is.
  await sleep(2000);
  const mended = await tenant.connect(bob);
  const after = await runFor(tenant, bob);
  logProgress(
    `refresh token revoked: ${status} (${reason}), ${events().length} events; ${mended.status} after a new link`,
  );
  logProgress(`the model was told: ${refused[0]?.answer}`);
  const isMended = mended.status === "active" && after.status === 200 && after.answer === bob.login;
  return {
    figures: {
      revoked_runs: refused.length,
      revoked_events: events().length,
      revoked_calls: mcp.calls.length - calls - 1,
      revoked_mended_by_links: isMended ? 1 : 0,
    },
    problems: [
      ...unless(
        status === "needs_reauth" && reason !== null,
        `the connection is ${status} after its grant was revoked`,
      ),
      ...unless(events().length === 1, `${events().length} events of a connection that needs a new consent`),
      ...unrevoked.map(({ note, answer }) => `${note}: the model was told ${answer.slice(0, 200)}`),
      ...unless(isMended, `after a new link: ${mended.status}, and ${after.status} ${after.answer}`),
    ],
  };
}
