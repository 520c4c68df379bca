import { parsePublicId } from "../../../../server/src/platform/ids.ts";
import { withClient } from "../../installation/scratch-database.ts";
import { insertPastTraffic } from "../past-runs.ts";
import type { Pages, Told } from "./told.ts";

const agent = "brewing";
const hourMs = 3_600_000;

const script = (step: object): string => JSON.stringify({ steps: [step] });
const answers = script({ delay_ms: 20, reply: "Sencha: 70 °C, one minute." });
const fails = script({ fail: "permanent", reply: "The provider refuses this content." });

/** Ten users or more on both sides of a canary with half of the requests: the side depends on the user's name. */
const users = Array.from({ length: 44 }, (_, index) => `customer-${2000 + index}`);

const sendAll = ({ perch }: Told, ids: readonly string[]) =>
  Promise.all(
    ids.map(async (user_id) => {
      const { request_id } = await perch.agents.invokeInBackground(agent, {
        message: "How long does sencha brew?",
        context: { user_id },
      });
      await perch.runs.wait(agent, request_id).catch(() => undefined);
    }),
  );

/** A version that was rolled back by hand, one that failed its checks, one that its guards rolled back, and a canary under way. */
async function shipVersions(told: Told): Promise<void> {
  const { perch } = told;
  const deploy = (version: string, environment = "production", more: object = {}) =>
    perch.deployments.deployAndWait(agent, { environment, version, ...more });
  await perch.agents.create({ name: agent, model: "perch/script", instructions: answers });
  await deploy("v1");
  await perch.agents.update(agent, { temperature: 0.4 });
  await deploy("v2");
  await perch.agents.update(agent, { temperature: 0.9 });
  await deploy("v3", "staging");
  const third = await deploy("v3");
  await perch.deployments.rollback(agent, third.id);
  await perch.agents.update(agent, { model: "nobody/model" });
  await deploy("v4").catch(() => undefined);
  await perch.agents.update(agent, { model: "perch/script", instructions: fails });
  const guards = { max_error_rate_increase: 0.05, max_p95_ratio: 2, min_runs: 10, window_seconds: 20 };
  const guarded = await deploy("v5", "production", { traffic_percent: 50, guards });
  await sendAll(told, users);
  for (let tries = 0; tries < 50; tries++) {
    if ((await perch.deployments.get(agent, guarded.id)).status === "rolled_back") break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await perch.agents.update(agent, { instructions: answers, temperature: 0.5 });
  const patient = { max_error_rate_increase: 0.05, max_mean_tokens_ratio: 1.5, min_runs: 50, window_seconds: 120 };
  await deploy("v6", "production", { traffic_percent: 20, guards: patient });
  await sendAll(told, users.slice(0, 12));
}

/** Hours ago at which a deployment was created and at which it ended. */
type Past = readonly (readonly [number, number | null])[];

/** In the order of their creation. The last canary keeps its real age. */
const past: Past = [
  [22.8, 17],
  [17, 9.5],
  [10.5, null],
  [9.5, 8],
  [8, null],
  [5.2, 5.2],
  [4, 2.2],
];

const pastOfSupport: Past = [
  [23.9, 23.6],
  [23.6, null],
  [23.4, null],
  [23.2, null],
];

const hoursBefore = (now: number, hours: number | null): string | null =>
  hours === null ? null : new Date(now - hours * hourMs).toISOString();

/** Returns the id of the agent whose deployments were moved. */
async function moveDeployments({ server, organisationId }: Told, name: string, when: Past): Promise<string> {
  // One moment for all, so that the end of one deployment is the beginning of the next.
  const now = Date.now();
  return withClient(server.database.adminUrl, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      "select id from agents where organisation_id = $1 and name = $2",
      [parsePublicId("organisation", organisationId), name],
    );
    const id = rows[0]?.id ?? "";
    await client.query(
      `update deployments d set
         created_at = m.created, activated_at = case when activated_at is not null then m.created end, ended_at = m.ended,
         guard_report = case when guard_report is not null then guard_report || jsonb_build_object('checked_at', m.ended) end
       from (select id, row_number() over (order by creation_order) as number from deployments where agent_id = $1) o
       join unnest($2::timestamptz[], $3::timestamptz[]) with ordinality as m (created, ended, number) using (number)
       where d.id = o.id`,
      [id, when.map(([created]) => hoursBefore(now, created)), when.map(([, ended]) => hoursBefore(now, ended))],
    );
    return id;
  });
}

/** Spreads the deployments that were just made over the last day, and gives the versions the runs they would have had. */
async function moveIntoPast(told: Told): Promise<void> {
  await moveDeployments(told, "support", pastOfSupport);
  const agentId = await moveDeployments(told, agent, past);
  const organisationId = parsePublicId("organisation", told.organisationId) ?? "";
  const common = { organisationId, agentId, message: "How hot?", response: "70 °C." };
  await insertPastTraffic(told.server.database.appUrl, [
    { ...common, version: "v2", runs: 500, failsEvery: 31, durationMs: 900 },
    { ...common, version: "v5", runs: 400, failsEvery: 1, durationMs: 1300, between: [3.9, 2.2] },
  ]);
}

export async function tellShip(told: Told): Promise<Pages> {
  await shipVersions(told);
  await moveIntoPast(told);
  const { data } = await told.perch.deployments.list(agent, { limit: 100 }).page();
  const idOf = (version: string, environment = "production") =>
    data.find((each) => each.version === version && each.environment === environment)?.id;
  const of = `/agents/${agent}/deployments`;
  return {
    deployments: "/deployments",
    "deployments-failed": "/deployments?status=failed",
    "deployments-none": "/deployments?status=pending",
    "agent-deployments": of,
    "agent-deployments-compared": `${of}?from=${idOf("v1")}&to=${idOf("v6")}`,
    "agent-deployments-one-chosen": `${of}?from=${idOf("v1")}`,
    "agent-deployments-none": "/agents/translator/deployments",
    "deployment-canary": `${of}/${idOf("v6")}`,
    "deployment-rolled-back-by-guards": `${of}/${idOf("v5")}`,
    "deployment-failed": `${of}/${idOf("v4")}`,
    "deployment-live": `${of}/${idOf("v2")}`,
    "deployment-rolled-back": `${of}/${idOf("v3")}`,
    "deployment-superseded": `${of}/${idOf("v1")}`,
    "agent-version-definition": `/agents/${agent}/versions?shown=v5`,
  };
}
