import {
  createScratchDatabase,
  type ScratchDatabase,
  withClient,
} from "@perch/testkit/installation/scratch-database.ts";
import { runCommand, startServer } from "@perch/testkit/installation/server-process.ts";
import { parsePublicId, toPublicId } from "../packages/server/src/platform/ids.ts";
import type { Figures } from "./comparison.ts";

const sizes = { small: 10_000, large: 1_000_000 };
const days = 30;
const agentCount = 50;
const warmUpRounds = 20;
const rounds = 150;
const batch = 100_000;

interface Subject {
  readonly size: number;
  readonly key: string;
  readonly organisationId: string;
  readonly agents: readonly { readonly id: string; readonly name: string }[];
  /** The cursor of a page that begins 20 days ago. */
  deepCursor: string;
}

/** As in production: most runs complete, one in a hundred fails, conversations have some runs, users many. */
const insertRuns = `
  insert into invocations (organisation_id, id, accepted_at, agent_id, status, environment, user_id, session_id, message, response, error,
                           version, deployment_id, duration_ms, tokens_used, steps, finished_at)
  select $1, uuid_at(at), at, ($2::uuid[])[1 + i % cardinality($2::uuid[])],
         case when i % 100 = 7 then 'failed' else 'completed' end, case when i % 10 = 3 then 'staging' else 'production' end,
         'user-' || i % 1000, 'session-' || i / 8, repeat('message ', 25), repeat('response ', 45),
         case when i % 100 = 7 then 'The model did not answer in time.' end, 'v' || i % 7, ($2::uuid[])[1 + i % cardinality($2::uuid[])],
         (i * 37) % 20000, 300, 2, at
    from (select i, (now() - i * ($5::float8 / $6) * interval '1 day')::timestamptz(3) as at from generate_series($3::int, $4::int) i) rows`;

async function seed(database: ScratchDatabase, subject: Subject): Promise<void> {
  const { organisationId, size } = subject;
  const agents = subject.agents.map(({ id }) => parsePublicId("agent", id));
  await withClient(database.adminUrl, async (client) => {
    // The oldest first, as they are stored.
    for (let to = size; to > 0; to -= batch) {
      await client.query(insertRuns, [organisationId, agents, Math.max(to - batch, 0) + 1, to, days, size]);
      if (size > batch) console.error(`seeded ${size - Math.max(to - batch, 0)} of ${size} runs`);
    }
  });
}

export async function prepareRuns(database: ScratchDatabase, name: string, size: number): Promise<Subject> {
  const key = await runCommand(database, ["create-organisation", "--name", name, "--tier", "enterprise"]);
  return withClient(database.adminUrl, async (client) => {
    const { rows } = await client.query<{ id: string }>("select id from organisations where name = $1", [name]);
    const organisationId = rows[0]?.id ?? "";
    const agents = await client.query<{ id: string; name: string }>(
      `insert into agents (id, organisation_id, name, status, definition, security)
         select uuid_at(now()), $1, 'agent-' || i, 'running', '{"model": "perch/echo"}', '{}' from generate_series(1, $2::int) i
         returning id, name`,
      [organisationId, agentCount],
    );
    const named = agents.rows.map((agent) => ({ id: toPublicId("agent", agent.id), name: agent.name }));
    const subject = { size, key, organisationId, agents: named, deepCursor: "" };
    await seed(database, subject);
    return subject;
  });
}

interface Answer {
  readonly data: unknown[];
  readonly pagination: { readonly next_cursor: string | null };
}

async function timed(url: string, key: string): Promise<{ ms: number; body: Answer }> {
  const start = performance.now();
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  const body = (await response.json()) as Answer;
  if (!response.ok) throw new Error(`${url}: ${JSON.stringify(body)}`);
  return { ms: performance.now() - start, body };
}

const daysAgo = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString();
const agentOf = ({ agents }: Subject, round: number) => agents[round % agents.length] ?? { id: "", name: "" };

/** Pages of 50, as a console shows them. */
const queries: Readonly<Record<string, (subject: Subject, round: number) => Record<string, string>>> = {
  first_page: () => ({}),
  deep_cursor: ({ deepCursor }) => ({ cursor: deepCursor }),
  agent: (subject, round) => ({ agent_id: agentOf(subject, round).name }),
  agent_deep: (subject, round) => ({ agent_id: agentOf(subject, round).name, end_time: daysAgo(20) }),
  agent_and_session: (subject, round) => ({ agent_id: agentOf(subject, round).name, session_id: `session-${round}` }),
  session: (_, round) => ({ session_id: `session-${round}` }),
  failed: () => ({ status: "failed" }),
  running_none: () => ({ status: "running" }),
  user: (_, round) => ({ user_id: `user-${round}` }),
  environment: () => ({ environment: "staging" }),
  version: () => ({ version: "v3" }),
  deployment: (subject, round) => ({ deployment_id: agentOf(subject, round).id.replace("agent", "dep") }),
  slow: () => ({ min_duration_ms: "19990" }),
  one_day: () => ({ start_time: daysAgo(16), end_time: daysAgo(15) }),
};

const percentile = (times: readonly number[], part: number): number =>
  Math.round((times.toSorted((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN) * 10) / 10;

/** Alternates between small and large, so that other load on the machine affects both. */
async function measure(
  name: string,
  subjects: readonly [Subject, Subject],
  urlOf: (subject: Subject, round: number) => string,
): Promise<Figures> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    for (const side of [0, 1] as const) {
      const { ms } = await timed(urlOf(subjects[side], round), subjects[side].key);
      if (round >= warmUpRounds) times[side].push(ms);
    }
  }
  const [small, large] = times.map((each) => ({ p50: percentile(each, 0.5), p95: percentile(each, 0.95) }));
  const show = (of: typeof small) => `p50 ${of?.p50} ms, p95 ${of?.p95} ms`;
  console.error(`${name}: ${show(small)} with ${sizes.small} runs; ${show(large)} with ${sizes.large}`);
  const ratio = Math.round(((large?.p50 ?? 0) / (small?.p50 ?? 0)) * 100) / 100;
  return { [`${name}_p95_ms`]: large?.p95 ?? 0, [`${name}_ratio`]: ratio };
}

const listUrl =
  (url: string, query: (subject: Subject, round: number) => Record<string, string>) =>
  (subject: Subject, round: number): string =>
    `${url}/v1/invocations?${new URLSearchParams({ limit: "50", ...query(subject, round) })}`;

/**
 * Measures whether a page of runs costs more if the organisation has a hundred times as many runs, deep in the list, or
 * with a filter.
 */
export async function runList(): Promise<Figures> {
  const database = await createScratchDatabase();
  try {
    await runCommand(database, ["migrate"]);
    await withClient(database.ownerUrl, (client) =>
      client.query(`select maintain_partitions('invocations', ${days}, 2)`),
    );
    const subjects = [
      await prepareRuns(database, "small", sizes.small),
      await prepareRuns(database, "large", sizes.large),
    ] as const;
    await withClient(database.adminUrl, (client) => client.query("vacuum analyze invocations, agents"));
    const server = await startServer(database);
    try {
      for (const subject of subjects) {
        const { body } = await timed(`${server.url}/v1/invocations?end_time=${daysAgo(20)}`, subject.key);
        subject.deepCursor = body.pagination.next_cursor ?? "";
      }
      // The duration of any request on this machine. The difference from it is the cost of the list.
      let figures = await measure("get_me", subjects, () => `${server.url}/v1/me`);
      for (const [name, query] of Object.entries(queries))
        figures = { ...figures, ...(await measure(name, subjects, listUrl(server.url, query))) };
      return figures;
    } finally {
      await server.stop();
    }
  } finally {
    await database.drop();
  }
}
