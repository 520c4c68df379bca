import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { listRunsLeft } from "@perch/testkit/installation/engine-invocations.ts";
import { countHeldSlots } from "@perch/testkit/installation/held-slots.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { interruption } from "@perch/testkit/services/commands.ts";
import { type Api, createApi } from "../api-client.ts";
import { logProgress } from "../log-progress.ts";
import { createDecider, type Decider } from "./decisions.ts";
import { killWhileDecided, killWhileRunsWait } from "./faults.ts";
import { type Installation, startInstallation } from "./installation.ts";
import { observe } from "./observe.ts";
import { createOrganisations } from "./organisations.ts";
import { actionOf, planRuns, suspensionsOf } from "./plan.ts";
import { findIds, kindOf, type Run, sendRuns, waitForStatus } from "./runs.ts";
import { type Findings, judge } from "./verdict.ts";

interface ApprovalOptions {
  readonly short: boolean;
  readonly json: boolean;
  /** How many runs; 1,000 unless given. */
  readonly runs: number | undefined;
}

interface Plan {
  readonly runs: number;
  readonly organisations: number;
  readonly engineNodes: 1 | 3;
  /** How often everything is killed while all runs wait. */
  readonly kills: number;
  /** While nothing is killed, which is when delays are measured; and later. */
  readonly calmPerSecond: number;
  readonly decisionsPerSecond: number;
  /**
   * The shortest time to expire is longer than the whole short form for CI, which moves the times in the database
   * instead.
   */
  readonly skipsToExpiry: boolean;
}

const fullPlan: Plan = {
  runs: 1000,
  organisations: 4,
  engineNodes: 3,
  kills: 3,
  calmPerSecond: 10,
  decisionsPerSecond: 20,
  skipsToExpiry: false,
};
const shortPlan: Plan = {
  runs: 50,
  organisations: 2,
  engineNodes: 1,
  kills: 1,
  calmPerSecond: 8,
  decisionsPerSecond: 10,
  skipsToExpiry: true,
};

/** The data that is stored about the runs outside PostgreSQL while all of them wait. */
async function checkNothingIsHeld({ engine, valkey, postgres }: Installation): Promise<readonly string[]> {
  const runs = await listRunsLeft(engine, 10);
  const slots = await countHeldSlots(valkey.url, postgres.adminUrl);
  logProgress(`while all runs wait: ${runs.length} of them in the engine, ${slots} slots held`);
  return [...runs, ...(slots > 0 ? [`${slots} slots are held while all runs wait`] : [])];
}

const skipToExpiry = (adminUrl: string): Promise<unknown> =>
  withClient(adminUrl, (client) =>
    client.query("update approvals set expires_at = now() where tool = 'pay_soon' and status = 'open'"),
  );

/** Decides on each run at this rate, without waiting for the ones before. */
async function decideAtRate(decider: Decider, runs: readonly Run[], perSecond: number, onDecide: () => void) {
  const decisions: Promise<void>[] = [];
  for (const run of runs) {
    const decide = decider.decide(run).catch((error: unknown) => {
      logProgress(String(error));
      run.problems.push(String(error));
    });
    decisions.push(decide);
    onDecide();
    await sleep(1000 / perSecond, undefined, { signal: interruption.signal });
  }
  await Promise.all(decisions);
}

const isDecided = (run: Run): boolean => suspensionsOf(kindOf(run)) > 0;

/** From the moment the last decision on a reply was sent until the tool was called. */
function delaysOf(runs: readonly Run[], { payments }: Installation): number[] {
  const atMs = new Map(payments.effects.map((effect) => [effect.action, effect.atMs]));
  return runs.flatMap((run) =>
    [...run.fates].flatMap(([at, fate]) => {
      const [step = 0, call = 0] = at.split(".").map(Number);
      const calledAtMs = atMs.get(actionOf(run.message, step, call));
      const decidedAtMs = run.decidedAtMs.get(step);
      const isMade = fate === "approved" || fate === "edited";
      return isMade && calledAtMs !== undefined && decidedAtMs !== undefined ? [calledAtMs - decidedAtMs] : [];
    }),
  );
}

const quantile = (values: readonly number[], share: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0);

interface Passed {
  readonly runs: readonly Run[];
  readonly decisions: number;
  readonly retries: number;
  readonly faults: number;
  readonly heldWhileWaiting: readonly string[];
  readonly findings: Findings;
  readonly delays: readonly number[];
  readonly load: number;
}

async function waitForAll(installation: Installation, api: Api, organisations: Organisations, plan: Plan) {
  const runs = await sendRuns(api, organisations, planRuns(plan.runs, plan.organisations));
  const waiting = runs.filter(isDecided).length;
  const found = await waitForStatus(installation.postgres.adminUrl, ["waiting"], waiting, 30);
  logProgress(`${found} of ${runs.length} runs wait; ${waiting} should`);
  await findIds(installation.postgres.adminUrl, runs);
  return runs;
}
type Organisations = Awaited<ReturnType<typeof createOrganisations>>;

async function runScenario(installation: Installation, plan: Plan, short: boolean): Promise<Passed> {
  const { apiUrls, postgres } = installation;
  const api = createApi(apiUrls);
  const organisations = await createOrganisations(installation, api, plan.organisations);
  logProgress(`created ${plan.organisations} organisations`);
  const runs = await waitForAll(installation, api, organisations, plan);
  const heldBefore = await checkNothingIsHeld(installation);
  await killWhileRunsWait(installation, plan.kills);
  const heldAfter = await checkNothingIsHeld(installation);
  if (plan.skipsToExpiry) await skipToExpiry(postgres.adminUrl);

  const decider = createDecider(api, organisations);
  const all = runs.filter(isDecided);
  const middle = Math.ceil(runs.length / 2);
  const [calm, disturbed] = [all.filter((run) => run.number <= middle), all.filter((run) => run.number > middle)];
  for (const run of disturbed) run.isDisturbed = true;
  await decideAtRate(decider, calm, plan.calmPerSecond, () => undefined);
  const [load = 0] = loadavg();
  logProgress(`${calm.length} runs were decided; faults from now on`);
  let count = 0;
  const [faults] = await Promise.all([
    killWhileDecided(installation, { total: disturbed.length, count: () => count, short }),
    decideAtRate(decider, disturbed, plan.decisionsPerSecond, () => {
      count += 1;
    }),
  ]);
  logProgress(`all runs were decided, with ${decider.sent()} decisions`);
  const left = await waitForStatus(postgres.adminUrl, ["running", "waiting"], 0, 60);
  logProgress(`${left} runs have not ended`);
  for (const [reason, times] of api.retries) logProgress(`${times} attempts of clients were repeated: ${reason}`);
  const findings = judge(await observe(installation, api, organisations, runs));
  return {
    runs,
    decisions: decider.sent(),
    retries: [...api.retries.values()].reduce((sum, count) => sum + count, 0),
    faults: plan.kills + faults,
    heldWhileWaiting: [...heldBefore, ...heldAfter],
    findings,
    delays: delaysOf(calm, installation),
    load,
  };
}

function toVerdict({ runs, findings, delays, ...passed }: Passed, { payments }: Installation) {
  const counts = Object.entries(findings).map(([name, lines]) => [name, (lines as readonly string[]).length]);
  return {
    runs: runs.length,
    decisions: passed.decisions,
    faults: passed.faults,
    held_while_waiting: passed.heldWhileWaiting.length,
    ...(Object.fromEntries(counts) as Record<keyof Findings, number>),
    effects: payments.effects.length,
    repeated_tool_requests: payments.repeats.length,
    retried_by_clients: passed.retries,
    decision_to_tool_p50_ms: quantile(delays, 0.5),
    decision_to_tool_p95_ms: quantile(delays, 0.95),
    load_average: Math.round(passed.load * 10) / 10,
  };
}

/**
 * Starts many runs that wait for persons, kills every process and changes the release meanwhile, and decides from both
 * API nodes, partly while processes are killed. Returns whether nothing was lost, done twice, or done without
 * permission.
 */
export async function runApprovals({ short, json, runs }: ApprovalOptions): Promise<boolean> {
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of stops.toReversed()) await Promise.resolve(end()).catch((error: unknown) => console.error(error));
  };
  interruption.signal.addEventListener("abort", () => void stop().finally(() => process.exit(130)));
  try {
    const base = short ? shortPlan : fullPlan;
    const plan = { ...base, runs: runs ?? base.runs };
    const installation = await startInstallation(stops, plan.engineNodes);
    logProgress(`started PostgreSQL, Valkey, ${plan.engineNodes} engine nodes, two API nodes and two workers`);
    const passed = await runScenario(installation, plan, short);
    const lists = [passed.heldWhileWaiting, ...Object.values(passed.findings)] as readonly (readonly string[])[];
    for (const list of lists) for (const line of list.slice(0, 20)) logProgress(line);
    const verdict = toVerdict(passed, installation);
    if (json) console.log(JSON.stringify(verdict));
    else console.table(verdict);
    return lists.every((list) => list.length === 0);
  } finally {
    await stop();
  }
}
