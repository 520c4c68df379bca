import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { waitUntil } from "@perch/testkit/services/commands.ts";
import { toPublicId } from "../../../packages/server/src/platform/ids.ts";
import { version } from "../../../packages/server/src/platform/version.ts";
import { type AlertCase, type Fault, repeat } from "../alert-case.ts";
import type { Installation } from "../installation.ts";

const activate = ({ run }: Installation, release: string) => run(["activate-release"], { PERCH_RELEASE: release });

/** A second release takes new runs beside the first. The function that it returns goes back. */
async function upgrade(installation: Installation): Promise<() => Promise<void>> {
  await activate(installation, "next");
  const next = await installation.startWorkerOf("next");
  return async () => {
    await activate(installation, version);
    if (installation.worker.pid() === undefined) await installation.worker.start();
    await next.stop();
  };
}

/** Two waiting runs of an agent with one slot are decided. One of them continues and occupies the slot. */
async function holdBackDecidedRun({ tenant, postgres }: Installation): Promise<Fault> {
  const query = <T extends object>(text: string): Promise<T[]> =>
    withClient(postgres.adminUrl, async (client) => (await client.query<T>(text)).rows);
  const listOpen = () =>
    query<{ id: string; run_id: string }>("select id, run_id from approvals where status = 'open'");
  const steps = [
    { tool_calls: [{ name: "ask_person", arguments: { question: "Go on?" } }] },
    { reply: "late", delay_ms: 120_000 },
  ];
  await tenant.post("agents", {
    name: "asking-person",
    model: "perch/script",
    instructions: JSON.stringify({ steps }),
    tools: [
      {
        type: "ask_person",
        name: "ask_person",
        description: "Asks.",
        answer: { type: "string" },
        invoker_may_decide: true,
      },
    ],
    limits: { max_concurrent_runs: 1, timeout_seconds: 300 },
  });
  const { key } = await tenant.post("keys", { name: "decider", permissions: ["read", "approve"] });
  const decider = await tenant.withKey(String(key));
  for (let n = 1; n <= 2; n++) {
    await tenant.start("asking-person");
    if (!(await waitUntil(async () => (await listOpen()).length === n, 30)))
      throw new Error("no run waits for a person");
  }
  const open = await listOpen();
  for (const { id } of open) await decider.post(`approvals/${toPublicId("approval", id)}/answer`, { answer: "yes" });
  await waitUntil(async () => (await query("select from waiting_runs where status = 'continued'")).length === 1, 30);
  await query("update waiting_runs set ready_at = now() - interval '10 minutes' where status = 'ready'");
  const cancel = (runId: string) =>
    tenant.call("POST", `agents/asking-person/invocations/${toPublicId("request", runId)}/cancel`);
  return { repair: () => Promise.all(open.map(({ run_id }) => cancel(run_id))) };
}

/** Runs that fail or do not end, and the workers that should end them. */
export const runCases: readonly AlertCase[] = [
  {
    fault: "the model provider answers every call with 500",
    fires: {
      PerchModelFailures: "If the provider itself is down, look at its status page and wait.",
      PerchRunFailures: "If `PerchModelFailures` fires too, follow that.",
    },
    cause: async ({ outside, tenant }) => {
      await tenant.post("agents", { name: "asking", model: "outside/model", limits: { timeout_seconds: 2 } });
      outside.isProviderDown = true;
      const end = repeat(300, () => tenant.start("asking"));
      const repair = () => {
        outside.isProviderDown = false;
      };
      return { repair, end };
    },
  },
  {
    fault: "the only worker is killed while agents are invoked",
    fires: {
      PerchRunsStalled: "Start workers, if none runs.",
      PerchNoWorkerForNewRuns: "Start workers of the active release.",
    },
    cause: async ({ worker, tenant }) => {
      await tenant.post("agents", { name: "waiting", model: "perch/echo" });
      await worker.kill();
      const end = repeat(500, () => tenant.start("waiting"));
      return { repair: worker.start, end };
    },
  },
  {
    fault: "the worker of the earlier release runs on after an upgrade",
    fires: { PerchOldReleaseRuns: "Stop the old workers with SIGTERM" },
    cause: async (installation) => {
      const goBack = await upgrade(installation);
      return { repair: installation.worker.stop, end: goBack };
    },
  },
  {
    fault: "the worker of the earlier release is killed with a run left",
    fires: { PerchRunsWithoutWorkers: "Start a worker of that release again, at any address" },
    cause: async (installation) => {
      const { tenant, worker } = installation;
      const steps = [{ tool_calls: [{ name: "perch_echo", arguments: {} }] }, { reply: "late", delay_ms: 300_000 }];
      await tenant.post("agents", { name: "slow", model: "perch/script", instructions: JSON.stringify({ steps }) });
      await tenant.start("slow");
      const goBack = await upgrade(installation);
      await worker.kill();
      return { repair: worker.start, end: goBack };
    },
  },
  {
    // The threshold is a time that cannot be shortened. The run really stands still; only its row pretends since when.
    fault:
      "a run that was decided finds no slot, because another run of its agent has the only one, and is made old by SQL",
    fires: { PerchRunsNotContinued: "cancel runs of the agent, those that hold a slot or those that cannot go on" },
    cause: holdBackDecidedRun,
  },
  {
    fault: "the engine loses its disks with runs under way, and starts with empty ones",
    fires: { PerchRunsLost: "Run [`perch-server doctor`](install.md#9-check-everything)" },
    cause: async ({ engine, tenant, run }) => {
      const instructions = JSON.stringify({ steps: [{ reply: "late", delay_ms: 60_000 }] });
      await tenant.post("agents", { name: "lost", model: "perch/script", instructions });
      for (let n = 0; n < 3; n++) await tenant.start("lost");
      await Promise.all(engine.nodes.map((node) => node.loseDisk()));
      await Promise.all(engine.nodes.map((node) => node.start()));
      return { repair: () => run(["doctor"]) };
    },
  },
];
