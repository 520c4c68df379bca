import { loadavg } from "node:os";
import {
  createScratchDatabase,
  type ScratchDatabase,
  withClient,
} from "@perch/testkit/installation/scratch-database.ts";
import { runCommand, startServer } from "@perch/testkit/installation/server-process.ts";
import { parsePublicId, toPublicId } from "../../packages/server/src/platform/ids.ts";
import type { Figures } from "../comparison.ts";
import { measureSideBySide, type Subjects, timedGet } from "../side-by-side.ts";

const smallSize = 100;
const agentCount = 2;
const pageSize = 20;
const batch = 50_000;

interface Subject {
  readonly size: number;
  readonly key: string;
  readonly organisationId: string;
  readonly agents: readonly string[];
  /** Of a later page of all open ones, and of each agent's. */
  readonly cursors: Map<string, string>;
}

/**
 * All of them open, which is the worst case for a list of open ones, and created over seven days. The sealed call has 512 bytes:
 * a list does not read it, and a million of realistic ones would fill the disk of a small machine.
 */
const insertApprovals = `
  insert into approvals (organisation_id, id, agent_id, run_id, cut, step, call, kind, tool, why, digest, environment, version, user_id,
                         session_id, invoker, invoker_may_decide, approvers, second_factor, sealed_call, created_at, expires_at)
  select $1, uuid_at(at), ($2::uuid[])[1 + i % cardinality($2::uuid[])], uuid_at(at), 1, 1, 1,
         case when i % 10 = 3 then 'question' else 'tool' end, 'pay', 'The tool pay needs approval always.',
         decode(md5(i::text) || md5(i::text), 'hex'), 'production', 'v' || i % 7, 'user-' || i % 1000, 'session-' || i / 8,
         'key:' || gen_random_uuid(), false, 1, false, decode(repeat(md5(i::text), 32), 'hex'), at, at + interval '14 days'
    from (select i, (now() - i * ($5::float8 / $6) * interval '1 day')::timestamptz(3) as at from generate_series($3::int, $4::int) i) rows`;
const days = 7;

async function seed(database: ScratchDatabase, { organisationId, agents, size }: Subject): Promise<void> {
  const ids = agents.map((id) => parsePublicId("agent", id));
  await withClient(database.adminUrl, async (client) => {
    for (let to = size; to > 0; to -= batch) {
      const from = Math.max(to - batch, 0) + 1;
      await client.query(insertApprovals, [organisationId, ids, from, to, days, size]);
      if (size > batch) console.error(`seeded ${size - from + 1} of ${size} approvals`);
    }
  });
}

async function prepare(database: ScratchDatabase, name: string, size: number): Promise<Subject> {
  const key = await runCommand(database, ["create-organisation", "--name", name, "--tier", "enterprise"]);
  const subject = await withClient(database.adminUrl, async (client): Promise<Subject> => {
    const { rows } = await client.query<{ id: string }>("select id from organisations where name = $1", [name]);
    const organisationId = rows[0]?.id ?? "";
    const agents = await client.query<{ id: string }>(
      `insert into agents (id, organisation_id, name, status, definition, security)
         select uuid_at(now()), $1, 'agent-' || i, 'running', '{"model": "perch/echo"}', '{}' from generate_series(1, $2::int) i
         returning id`,
      [organisationId, agentCount],
    );
    const ids = agents.rows.map(({ id }) => toPublicId("agent", id));
    return { size, key, organisationId, agents: ids, cursors: new Map() };
  });
  await seed(database, subject);
  return subject;
}

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly pagination: { readonly next_cursor: string | null };
  readonly open: { readonly count: number };
}

type Query = (subject: Subject, round: number) => Record<string, string>;
const agentOf = ({ agents }: Subject, round: number): string => agents[round % agents.length] ?? "";
const cursorOf = ({ cursors }: Subject, of: string): Record<string, string> => ({ cursor: cursors.get(of) ?? "" });

const queries: Readonly<Record<string, Query>> = {
  open: () => ({ status: "open" }),
  open_later: (subject) => ({ status: "open", ...cursorOf(subject, "") }),
  open_of_agent: (subject, round) => ({ status: "open", agent_id: agentOf(subject, round) }),
  open_of_agent_later: (subject, round) => {
    const agent_id = agentOf(subject, round);
    return { status: "open", agent_id, ...cursorOf(subject, agent_id) };
  },
};

const listUrl = (url: string, query: Record<string, string>): string =>
  `${url}/v1/approvals?${new URLSearchParams({ limit: String(pageSize), ...query })}`;

const maxPages = 200;

/** Follows the list to a page in its middle, or 20,000 approvals far: a page is found by its key, so depth should not matter. */
async function findLaterPage(url: string, subject: Subject, filter: Record<string, string>): Promise<string> {
  const rows = subject.size / (filter.agent_id ? agentCount : 1);
  const limit = rows > smallSize ? 100 : pageSize;
  const pages = Math.max(1, Math.min(maxPages, Math.floor(rows / limit / 2)));
  let query: Record<string, string> = { status: "open", limit: String(limit), ...filter };
  for (let page = 1; ; page++) {
    const { body } = await timedGet<Page>(`${url}/v1/approvals?${new URLSearchParams(query)}`, subject.key);
    const cursor = body.pagination.next_cursor;
    if (cursor === null) throw new Error(`There is no page ${page + 1} of ${rows} approvals`);
    if (page === pages) return cursor;
    query = { ...query, cursor };
  }
}

const measure = (url: string, name: string, subjects: Subjects<Subject>, query: Query): Promise<Figures> =>
  measureSideBySide(name, subjects, async (subject, round) => {
    const { ms, body } = await timedGet<Page>(listUrl(url, query(subject, round)), subject.key);
    if (body.data.length !== pageSize) throw new Error(`${name}: a page of ${body.data.length} approvals`);
    return ms;
  });

/** Does a page of open approvals cost more where an organisation has ten thousand times as many? */
export async function approvalList(largeSize: number): Promise<Figures> {
  const database = await createScratchDatabase();
  try {
    await runCommand(database, ["migrate"]);
    const subjects = [
      await prepare(database, "small", smallSize),
      await prepare(database, "large", largeSize),
    ] as const;
    await withClient(database.adminUrl, (client) => client.query("vacuum analyze approvals, agents"));
    const server = await startServer(database);
    try {
      for (const subject of subjects)
        for (const agent_id of ["", ...subject.agents])
          subject.cursors.set(agent_id, await findLaterPage(server.url, subject, agent_id ? { agent_id } : {}));
      let figures: Figures = {};
      for (const [name, query] of Object.entries(queries))
        figures = { ...figures, ...(await measure(server.url, name, subjects, query)) };
      const [load = 0] = loadavg();
      return { ...figures, list_load_average: Math.round(load * 10) / 10 };
    } finally {
      await server.stop();
    }
  } finally {
    await database.drop();
  }
}
