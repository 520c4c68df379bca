import { randomBytes } from "node:crypto";
import { type Installation, startInstallation } from "@perch/testkit/installation/installation.ts";
import { type ScratchDatabase, withClient } from "@perch/testkit/installation/scratch-database.ts";
import type pg from "pg";
import { median } from "./load.ts";

const sizes = { small: 100_000, large: 20_000_000 };
const days = 30;
const rounds = 200;
const batch = 500_000;

interface Subject {
  readonly perch: Installation;
  readonly headers: Record<string, string>;
  readonly organisationId: string;
  readonly agentId: string;
  readonly requestId: string;
}

/** A UUIDv7 of this time, in SQL. */
const idAt = (at: string, hash: string) =>
  `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7' || substr(${hash}, 1, 3) || '8' || substr(${hash}, 4, 15))::uuid`;

/** One entry in a hundred is the measured agent's, the others belong to a thousand agents; one in fifty is an error. */
const insertEntries = `
  insert into log_entries (organisation_id, agent_id, at, level, message, metadata, invocation_id, environment, version)
  select case when i % 100 = 0 then $1::uuid else ('00000000-0000-4000-8000-' || lpad((i % 100)::text, 12, '0'))::uuid end,
         case when i % 100 = 0 then $2::uuid else ('00000000-0000-4000-9000-' || lpad((i % 1000)::text, 12, '0'))::uuid end,
         at, case when i % 5000 = 0 or i % 50 = 7 then 3 else 1 end, 'Model call: perch/echo', '{"type": "model_call", "tokens": 40, "duration_ms": 12}',
         ${idAt("at", "hash")}, 'production', 'v1'
    from (select i, md5(i::text || $3) as hash, now() - make_interval(secs => (i::float8 / $5::float8) * ${days} * 86400 - 0.001) as at
            from generate_series($3::bigint, $4::bigint) i) rows`;

const insertRollups = `
  insert into run_rollups (organisation_id, agent_id, granularity, starts_at, environment, version, shard, runs, failed, tokens, duration_ms, cost_micros, duration_buckets)
  select $1, $2::uuid, 'hour', date_trunc('hour', now()) - make_interval(hours => h), 'production', 'v1', shard, 100, 2, 4000, 1200, 0,
         array_fill(0, array[22]) || 100 || array_fill(0, array[105])
    from generate_series(0, ${days} * 24 - 1) h, generate_series(0, 15) shard`;

async function makePartitions(client: pg.Client): Promise<void> {
  for (const table of ["log_entries", "run_rollups"])
    for (let day = 3; day <= days + 1; day++)
      await client.query(`do $$ declare d date := (now() at time zone 'utc')::date - ${day}; begin
        execute format('create table if not exists %I partition of ${table} for values from (%L) to (%L)',
          '${table}' || to_char(d, '_YYYYMMDD'), d || ' 00:00:00+00', d + 1 || ' 00:00:00+00'); end $$`);
}

async function seed(database: ScratchDatabase, organisationId: string, agentId: string, size: number): Promise<void> {
  await withClient(database.ownerUrl, makePartitions);
  await withClient(database.adminUrl, async (client) => {
    await client.query("set synchronous_commit = off");
    for (let from = 1; from <= size; from += batch) {
      const to = Math.min(from + batch - 1, size);
      await client.query(insertEntries, [organisationId, agentId, from, to, size]);
      if (size > batch) console.error(`seeded ${to} of ${size} entries`);
    }
    await client.query(insertRollups, [organisationId, agentId]);
    const others = size > batch ? 300 : 3;
    for (let i = 0; i < others; i++)
      await client.query(insertRollups, [organisationId, `00000000-0000-4000-a000-${String(i).padStart(12, "0")}`]);
    await client.query("vacuum analyze log_entries");
    await client.query("vacuum analyze run_rollups");
  });
}

async function prepare(size: number): Promise<Subject> {
  const perch = await startInstallation({ engineNodes: 0 });
  const { database } = perch;
  const key = await perch.createOrganisation("Bench", "enterprise");
  const headers = { authorization: `Bearer ${key}` };
  await fetch(`${perch.url}/v1/agents`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ name: "bench", model: "perch/echo" }),
  });
  const { rows } = await withClient(database.adminUrl, (client) =>
    client.query<{ id: string; organisation_id: string }>("select id, organisation_id from agents"),
  );
  const { id: agentId = "", organisation_id: organisationId = "" } = rows[0] ?? {};
  await seed(database, organisationId, agentId, size);
  const page = (await (await fetch(`${perch.url}/v1/agents/bench/logs?limit=1`, { headers })).json()) as {
    data: { metadata: { request_id: string } }[];
  };
  const requestId = page.data[0]?.metadata.request_id ?? "";
  return { perch, headers, organisationId, agentId, requestId };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Alternates between the two, so that other load on the machine affects both. */
async function ratio(
  label: string,
  of: (subject: Subject) => () => Promise<unknown>,
  small: Subject,
  large: Subject,
): Promise<number> {
  const [first, second] = [of(small), of(large)];
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds + 20; round++) {
    const taken = [await timed(first), await timed(second)] as const;
    if (round >= 20) taken.forEach((ms, i) => void times[i]?.push(ms));
  }
  const [a, b] = times.map(median) as [number, number];
  console.error(`${label}: p50 ${a.toFixed(2)} ms with ${sizes.small} entries, ${b.toFixed(2)} ms with ${sizes.large}`);
  return Math.round((b / a) * 100) / 100;
}

const get = (path: (subject: Subject) => string) => (subject: Subject) => async (): Promise<void> => {
  const response = await fetch(`${subject.perch.url}/v1/agents/bench/${path(subject)}`, { headers: subject.headers });
  if (!response.ok) throw new Error(await response.text());
  await response.arrayBuffer();
};

/** The end of a run, as workers write it: the record, five entries, the rollups. */
const record = (client: pg.Client) => (subject: Subject) => async (): Promise<void> => {
  const hex = Date.now().toString(16).padStart(12, "0") + randomBytes(10).toString("hex");
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  const at = new Date().toISOString();
  const line = { at, level: 1, message: "Model call: perch/echo", metadata: { type: "model_call", duration_ms: 12 } };
  const spans = { minute: `${at.slice(0, 16)}:00Z`, hour: `${at.slice(0, 13)}:00:00Z` };
  const run = {
    organisation_id: subject.organisationId,
    id,
    accepted_at: at,
    agent_id: subject.agentId,
    environment: "production",
    version: "v1",
    message: "hello",
    status: "completed",
    response: "hello",
    steps: 1,
    tokens_used: 40,
    duration_ms: 12,
    turn: null,
    log: [line, line, line, line, line],
    rollup: { ...spans, failed: 0, cost_micros: 0, bucket: 23, buckets: 128 },
    event: { type: "agent.completed", data: {}, sweep_after_seconds: 30 },
  };
  await client.query("select inserted from record_runs($1::jsonb, 0::smallint)", [JSON.stringify([run])]);
};

export async function telemetry(): Promise<Record<string, number>> {
  const small = await prepare(sizes.small);
  const large = await prepare(sizes.large);
  try {
    const logs = await ratio(
      "Get Logs, errors of the last hours",
      get(
        () =>
          `logs?level=error&start_time=${encodeURIComponent(new Date(Date.now() - 43_200_000).toISOString())}&limit=50`,
      ),
      small,
      large,
    );
    const byRequest = await ratio(
      "Get Logs of one request",
      get(({ requestId }) => `logs?request_id=${requestId}`),
      small,
      large,
    );
    const start = encodeURIComponent(new Date(Date.now() - 30 * 86_400_000 + 3_600_000).toISOString());
    const metrics = await ratio(
      "Get Metrics, 30 days by the hour",
      get(() => `metrics?metric=response_time&granularity=1h&start_time=${start}`),
      small,
      large,
    );
    const write = await withClient(small.perch.database.appUrl, (one) =>
      withClient(large.perch.database.appUrl, (two) =>
        ratio("the record of a run", (subject) => record(subject === small ? one : two)(subject), small, large),
      ),
    );
    return { logs_ratio: logs, logs_by_request_ratio: byRequest, metrics_ratio: metrics, write_ratio: write };
  } finally {
    for (const { perch } of [small, large]) await perch.stop();
  }
}
