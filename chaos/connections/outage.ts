import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "@perch/testkit/services/commands.ts";
import { logProgress } from "../log-progress.ts";
import { countStale, expireToken, usedTokens } from "./access-tokens.ts";
import { judgeRuns } from "./judge-runs.ts";
import { type Run, runFor } from "./runs.ts";
import { type Result, type Scene, unless } from "./scene.ts";
import { hastyAgent, patientAgent } from "./users.ts";

const everyMs = 500;

/** Breaks the token endpoint in three ways, one after the other, and sends runs of both users meanwhile. */
async function runWhileDown({ installation: { provider }, tenant, ada, bob }: Scene, seconds: number) {
  const ways = [
    async () => provider.setTokenEndpoint({ status: 503 }),
    async () => provider.setTokenEndpoint("hang"),
    provider.stop,
  ];
  const [disturbed, others]: [Promise<Run>[], Promise<Run>[]] = [[], []];
  for (const goDown of ways) {
    await goDown();
    const untilMs = performance.now() + (seconds * 1000) / ways.length;
    while (performance.now() < untilMs) {
      for (const agent of [patientAgent, hastyAgent]) disturbed.push(runFor(tenant, ada, { agent }));
      others.push(runFor(tenant, bob));
      await sleep(everyMs);
    }
  }
  return { disturbed, others };
}

/** The answer reports that the tool was not called, because its account could not be used. */
const hasReason = ({ answer }: Run): boolean =>
  /(was not called|could not use).*(token|authorization server|provider)/is.test(answer);
/** It got its token when the outage was over, and had no time left to use it. */
const wasTooLate = ({ answer, answeredAtMs }: Run, upMs: number): boolean =>
  answeredAtMs > upMs && /took (longer than|too long)/.test(answer);

/** The token endpoint is down while two users have runs: a user whose token has expired, and another one. */
export async function outage(scene: Scene, seconds: number): Promise<Result> {
  const { installation, tenant, ada, connections } = scene;
  const { provider, mcp } = installation;
  const { id } = await tenant.connect(ada, hastyAgent);
  await runFor(tenant, ada, { agent: hastyAgent });
  const stale = usedTokens(installation, ada);
  provider.setTokenEndpoint({ status: 503 });
  for (const connection of [connections.ada.id, id]) await expireToken(installation, connection);
  const [requests, calls] = [mcp.requests.length, mcp.calls.length];
  const { disturbed, others } = await runWhileDown(scene, seconds);
  provider.setTokenEndpoint("up");
  await provider.start();
  const upMs = performance.now();
  const isBack = await waitUntil(async () => (await runFor(tenant, ada)).answer === ada.login, 60);
  const recoverySeconds = (performance.now() - upMs) / 1000;
  const done = await Promise.all(disturbed);
  const waited = done.filter(({ status, answer }) => status === 200 && answer === ada.login);
  const failed = done.filter((run) => !waited.includes(run));
  const ofOther = judgeRuns(await Promise.all(others), mcp.calls.slice(calls));
  const staleUses = countStale(installation, requests, stale);
  logProgress(
    `token endpoint down for ${seconds} s: of ${done.length} runs ${waited.length} waited for it, ${failed.length} failed; back after ${recoverySeconds.toFixed(1)} s`,
  );
  if (failed[0]) logProgress(`for example: ${failed[0].status} ${failed[0].answer}`);
  const unexplained = failed.filter((run) => !hasReason(run) && !wasTooLate(run, upMs));
  const early = waited.filter(({ answeredAtMs }) => answeredAtMs < upMs);
  return {
    figures: {
      outage_seconds: seconds,
      outage_runs: done.length,
      outage_runs_that_waited: waited.length,
      outage_failed_with_reason: failed.filter(hasReason).length,
      outage_token_too_late: failed.filter((run) => !hasReason(run) && wasTooLate(run, upMs)).length,
      outage_stale_tokens_sent: staleUses,
      outage_runs_of_other_user: others.length,
      outage_recovery_seconds: Math.round(recoverySeconds * 10) / 10,
    },
    problems: [
      ...ofOther.mixedUp,
      ...ofOther.failed,
      ...unexplained.map(({ note, status, answer }) => `${note}: ${status} ${answer}`),
      ...early.map(({ note }) => `${note}: succeeded while no token could be had`),
      ...unless(staleUses === 0, `an expired token was sent ${staleUses} times`),
      ...unless(isBack, "60 s after the token endpoint is back, runs still fail"),
    ],
  };
}
