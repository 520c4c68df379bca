import { startInstallation } from "@perch/testkit/installation/installation.ts";
import { type ScratchDatabase, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { runCommand } from "@perch/testkit/installation/server-process.ts";
import { type LoadTarget, latencies, median, type PostTarget, type Target } from "./load.ts";

const sizes = { small: 10, large: 10_000 };
const rounds = 12;
const requests = 480;
const message = JSON.stringify({ message: "hello" });

interface Subject {
  readonly size: number;
  readonly headers: Record<string, string>;
  readonly liveId: string;
}

/** As if the agent had been deployed once a minute: each version of its draft under a label of its own, the last one live. */
const insertVersions = `
  insert into agent_versions (organisation_id, agent_id, label, definition, checksum, created_at)
  select a.organisation_id, a.id, 'v' || i, a.definition, sha256((a.definition::text || i)::bytea), now() - make_interval(mins => $2::int - i)
    from agents a, generate_series(1, $2::int) i where a.organisation_id = $1`;
const insertDeployments = `
  insert into deployments (organisation_id, id, agent_id, environment, version, status, traffic_percent, origin, live_order, created_at, activated_at, ended_at)
  select organisation_id, id, agent_id, 'production', 'v' || i, case when i = $2 then 'active' else 'superseded' end, 100, id,
         nextval('deployment_order'), at, at, case when i < $2 then at + interval '1 minute' end
    from (select a.organisation_id, a.id as agent_id, i, at,
                 (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid as id
            from agents a, generate_series(1, $2::int) i,
                 lateral (select now() - make_interval(mins => $2::int - i) as at, md5(a.id::text || i) as hash) rows
           where a.organisation_id = $1 order by i) made`;

async function seed(database: ScratchDatabase, name: string, size: number): Promise<void> {
  const organisationId = await withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ id: string }>("select id from organisations where name = $1", [name]);
    return rows[0]?.id ?? "";
  });
  await withClient(database.ownerUrl, async (client) => {
    await client.query("select set_config('perch.organisation_id', $1, false)", [organisationId]);
    await client.query(insertVersions, [organisationId, size]);
    // Inserted ended, which the server may not do.
    await client.query("alter table deployments disable trigger deployments_initial");
    await client.query(insertDeployments, [organisationId, size]);
    await client.query("alter table deployments enable trigger deployments_initial");
    await client.query("vacuum analyze agent_versions, deployments");
  });
}

async function requestJson<T>(url: string, headers: Record<string, string>, body?: object): Promise<T> {
  const init = body && { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(url, { ...init, headers: { ...headers, "content-type": "application/json" } });
  const answer = (await response.json()) as T;
  if (!response.ok) throw new Error(`${url}: ${JSON.stringify(answer)}`);
  return answer;
}

async function prepare(database: ScratchDatabase, url: string, name: string, size: number): Promise<Subject> {
  const key = await runCommand(database, ["create-organisation", "--name", name, "--tier", "enterprise"]);
  const headers = { authorization: `Bearer ${key}` };
  await requestJson(`${url}/v1/agents`, headers, {
    name: "bench",
    model: "perch/echo",
    instructions: "Be brief. ".repeat(20),
  });
  await seed(database, name, size);
  interface Listed {
    readonly data: readonly { readonly id: string; readonly version: string; readonly status: string }[];
    readonly pagination: { readonly total: number };
  }
  const { data, pagination } = await requestJson<Listed>(`${url}/v1/agents/bench/deployments`, headers);
  const [newest] = data;
  if (pagination.total !== size || newest?.status !== "active" || newest.version !== `v${size}`)
    throw new Error(`${name}: ${JSON.stringify(newest)}`);
  return { size, headers, liveId: newest.id };
}

/** Alternates between the two in short bursts, so that other load on the machine affects both. */
async function ratio(
  label: string,
  subjects: readonly [Subject, Subject],
  target: (subject: Subject) => Target,
  connections = 1,
): Promise<number> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    for (const side of round % 2 ? ([0, 1] as const) : ([1, 0] as const)) {
      const each = Math.ceil(requests / rounds / connections);
      const burst = Array.from({ length: connections }, () => latencies(target(subjects[side]), each));
      const measured = (await Promise.all(burst)).flat();
      // The first round warms up.
      if (round > 0) times[side].push(...measured);
    }
  }
  const [small, large] = times.map(median) as [number, number];
  console.error(`${label}: p50 ${small.toFixed(2)} ms with ${sizes.small}, ${large.toFixed(2)} ms with ${sizes.large}`);
  return Math.round((large / small) * 100) / 100;
}

/** The first invoke after a change of the organisation, which invalidates the cached agent. */
async function ratioAfterChange(agent: string, subjects: readonly [Subject, Subject]): Promise<number> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < requests / 2; round++) {
    for (const side of [0, 1] as const) {
      const { headers } = subjects[side];
      const json = { ...headers, "content-type": "application/json" };
      const body = JSON.stringify({ instructions: `Be brief. ${round}` });
      const changed = await fetch(agent, { method: "PATCH", headers: json, body });
      await changed.arrayBuffer();
      if (!changed.ok) throw new Error(`${agent}: ${changed.status}`);
      times[side].push(...(await latencies({ url: `${agent}/invoke`, headers: [headers], body: message }, 1)));
    }
  }
  const [small, large] = times.map(median) as [number, number];
  console.error(
    `invoke after a change: p50 ${small.toFixed(2)} ms with ${sizes.small}, ${large.toFixed(2)} ms with ${sizes.large}`,
  );
  return Math.round((large / small) * 100) / 100;
}

/** Does an agent answer more slowly when it was deployed a thousand times as often? */
export async function versions(): Promise<Record<string, number>> {
  const { database, url, stop } = await startInstallation({
    enginePartitions: 2,
    settings: { PERCH_DATABASE_MAX_CONNECTIONS: "20" },
  });
  try {
    const agent = `${url}/v1/agents/bench`;
    const subjects = [
      await prepare(database, url, "small", sizes.small),
      await prepare(database, url, "large", sizes.large),
    ] as const;
    const invokeTarget = ({ headers }: Subject): PostTarget => ({
      url: `${agent}/invoke`,
      headers: [headers],
      body: message,
    });
    const readTarget =
      (path: (subject: Subject) => string) =>
      (subject: Subject): LoadTarget => ({
        url: agent + path(subject),
        headers: [subject.headers],
      });
    const lists = [
      await ratio(
        "list deployments",
        subjects,
        readTarget(() => "/deployments"),
      ),
      await ratio(
        "list versions",
        subjects,
        readTarget(() => "/versions"),
      ),
    ];
    const gets = [
      await ratio(
        "get deployment",
        subjects,
        readTarget(({ liveId }) => `/deployments/${liveId}`),
      ),
      await ratio(
        "get version",
        subjects,
        readTarget(({ size }) => `/versions/v${size}`),
      ),
    ];
    return {
      p50_ratio_c1: await ratio("invoke at concurrency 1", subjects, invokeTarget),
      p50_ratio_c16: await ratio("invoke at concurrency 16", subjects, invokeTarget, 16),
      p50_ratio_after_change: await ratioAfterChange(agent, subjects),
      list_ratio: Math.max(...lists),
      get_ratio: Math.max(...gets),
    };
  } finally {
    await stop();
  }
}
