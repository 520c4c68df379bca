import {
  createScratchDatabase,
  type ScratchDatabase,
  withClient,
} from "@perch/testkit/installation/scratch-database.ts";
import { runCommand, startServer } from "@perch/testkit/installation/server-process.ts";
import { median } from "./load.ts";

const sizes = { small: 1_000, large: 1_000_000 };
const warmUpRounds = 100;
const rounds = 600;
const batch = 50_000;

interface Subject {
  readonly size: number;
  readonly key: string;
  readonly organisationId: string;
  readonly agents: readonly string[];
}

const definition = {
  model: "perch/echo",
  temperature: null,
  instructions: "You answer questions about orders, briefly and politely, and say so when you do not know.",
  tools: [],
  memory: { recall: false, recall_limit: 5, remember: false },
  limits: { max_steps: 20, max_tokens: 100_000, timeout_seconds: 120 },
  fallback_models: [],
  runtime: { type: "model" },
};

/** Agents a second apart, with ids that carry their time, as if they had been created one by one; names in no order. */
const insertAgents = `
  insert into agents (id, organisation_id, name, status, definition, security, created_at, updated_at)
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(hash, 1, 3) || '8' || substr(hash, 4, 15))::uuid,
         $1, substr(hash, 1, 12) || '-' || i, 'running', $2, '{}', at, at
    from (select i, md5($1::uuid::text || i) as hash, now() - make_interval(secs => $5::int - i) as at from generate_series($3::int, $4::int) i) rows`;

async function seed(database: ScratchDatabase, organisationId: string, size: number): Promise<void> {
  await withClient(database.appUrl, async (client) => {
    await client.query("select set_config('perch.organisation_id', $1, false)", [organisationId]);
    for (let from = 1; from <= size; from += batch) {
      const to = Math.min(from + batch - 1, size);
      await client.query(insertAgents, [organisationId, JSON.stringify(definition), from, to, size]);
      if (size > batch) console.error(`seeded ${to} of ${size} agents`);
    }
  });
}

async function prepare(database: ScratchDatabase, name: string, size: number): Promise<Subject> {
  const key = await runCommand(database, ["create-organisation", "--name", name, "--tier", "enterprise"]);
  const organisationId = await withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ id: string }>("select id from organisations where name = $1", [name]);
    return rows[0]?.id ?? "";
  });
  await seed(database, organisationId, size);
  const agents = await withClient(database.adminUrl, async (client) => {
    await client.query("vacuum analyze agents");
    const { rows } = await client.query<{ name: string }>(
      "select name from agents where organisation_id = $1 order by md5(id::text) limit 500",
      [organisationId],
    );
    return rows.map((row) => row.name);
  });
  return { size, key, organisationId, agents };
}

async function timed(url: string, key: string): Promise<{ ms: number; body: { pagination?: { total: number } } }> {
  const start = performance.now();
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  const body = (await response.json()) as { pagination?: { total: number } };
  if (!response.ok) throw new Error(`${url}: ${JSON.stringify(body)}`);
  return { ms: performance.now() - start, body };
}

const requests = {
  first_page: () => "/v1/agents",
  sorted_page: () => "/v1/agents?sort=name",
  get: ({ agents }: Subject, round: number) => `/v1/agents/${agents[round % agents.length]}`,
};

/** Alternates between small and large, so that other load on the machine affects both. */
async function measure(
  url: string,
  subjects: readonly [Subject, Subject],
  path: (subject: Subject, round: number) => string,
): Promise<number> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    for (const side of [0, 1] as const) {
      const subject = subjects[side];
      const { ms, body } = await timed(url + path(subject, round), subject.key);
      if (body.pagination && body.pagination.total !== subject.size)
        throw new Error(`total ${body.pagination.total} is not ${subject.size}`);
      if (round >= warmUpRounds) times[side].push(ms);
    }
  }
  const [small, large] = times.map(median) as [number, number];
  console.error(
    `${path(subjects[0], 0)}: p50 ${small.toFixed(2)} ms with ${sizes.small} agents, ${large.toFixed(2)} ms with ${sizes.large}`,
  );
  return Math.round((large / small) * 100) / 100;
}

/** Does a page or a look-up cost more when the organisation has a thousand times the agents? */
export async function listAgents(): Promise<Record<string, number>> {
  const database = await createScratchDatabase();
  try {
    await runCommand(database, ["migrate"]);
    const subjects = [
      await prepare(database, "small", sizes.small),
      await prepare(database, "large", sizes.large),
    ] as const;
    const server = await startServer(database);
    try {
      return {
        first_page_ratio: await measure(server.url, subjects, requests.first_page),
        sorted_page_ratio: await measure(server.url, subjects, requests.sorted_page),
        get_ratio: await measure(server.url, subjects, requests.get),
      };
    } finally {
      await server.stop();
    }
  } finally {
    await database.drop();
  }
}
