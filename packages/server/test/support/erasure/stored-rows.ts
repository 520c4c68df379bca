import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { parsePublicId } from "../../../src/platform/ids.ts";
import type { Organisation, Perch } from "../harness.ts";
import type { MarkedUser } from "./mixed-runs.ts";

export const idOf = ({ id }: Organisation): string => parsePublicId("organisation", id) ?? "";

export const queryRows = <T extends object>({ database }: Perch, text: string, values: unknown[] = []): Promise<T[]> =>
  withClient(database.adminUrl, async (admin) => (await admin.query<T>(text, values)).rows);

export const runsOf = "select id from invocations where organisation_id = $1 and user_id = $2";

const eventsOf = `select id from events where id in (${runsOf}) or organisation_id = $1 and data ->> 'user_id' = $2`;

/** The expected receipt, counted before the erasure and in another way. */
const expectedCounts = {
  "connected accounts": "select count(*) from connections where organisation_id = $1 and user_id = $2",
  memories: "select count(*) from memories where organisation_id = $1 and owner = '=' || $2",
  "messages of sessions": "select count(*) from session_messages where organisation_id = $1 and owner = '=' || $2",
  "records of runs": `select count(*) from (${runsOf}) r`,
  "contents of steps": `select count(*) from run_contents where id in (${runsOf})`,
  "log entries": `select count(*) from log_entries where organisation_id = $1 and (invocation_id in (${runsOf}) or metadata ->> 'user_id' = $2)`,
  events: `select count(*) from (${eventsOf}) e`,
  "responses of webhook receivers": `select count(*) from delivery_attempts where response is not null and delivery_id in (select id from deliveries where event_id in (${eventsOf}))`,
  "ended clears of memory": "select count(*) from memory_clears where organisation_id = $1 and owner = '=' || $2",
} as const;

export const countUserRows = (
  { database }: Perch,
  organisation: Organisation,
  userId: string,
): Promise<Record<string, number>> =>
  withClient(database.adminUrl, async (admin) => {
    const counts: Record<string, number> = {};
    for (const [what, text] of Object.entries(expectedCounts)) {
      const { rows } = await admin.query<{ count: string }>(text, [idOf(organisation), userId]);
      counts[what] = Number(rows[0]?.count);
    }
    return counts;
  });

/** Listed by hand, because a declaration that forgot a table would leave it out here too. */
const erasedTables = [
  "connections",
  "memories",
  "session_messages",
  "invocations",
  "run_contents",
  "log_entries",
  "events",
  "deliveries",
  "delivery_attempts",
  "memory_clears",
];

/** Rows that do not name the user, of every table that an erasure changes. */
export const readRowsOfOthers = ({ database }: Perch, word: string): Promise<Record<string, string[]>> =>
  withClient(database.adminUrl, async (admin) => {
    const listIds = async (text: string, values: unknown[]): Promise<Set<string>> =>
      new Set((await admin.query<{ id: string }>(text, values)).rows.map(({ id }) => id));
    const runs = await listIds("select id from invocations where message like '%' || $1 || '%'", [word]);
    const deliveries = await listIds("select id from deliveries where event_id = any ($1)", [[...runs]]);
    const rows: Record<string, string[]> = {};
    for (const table of erasedTables) {
      const { rows: found } = await admin.query<Record<string, unknown>>(`select * from ${table}`);
      rows[table] = found
        .filter(
          ({ id, invocation_id, event_id, delivery_id }) =>
            ![id, invocation_id, event_id].some((each) => runs.has(String(each))) &&
            !deliveries.has(String(delivery_id)),
        )
        .map((row) => JSON.stringify(row))
        .filter((text) => !text.includes(word))
        .sort();
    }
    return rows;
  });

/** Rows of every table that has an organisation, as the catalogue lists them. */
export const countRows = ({ database }: Perch, organisation: Organisation): Promise<Record<string, number>> =>
  withClient(database.adminUrl, async (admin) => {
    const { rows: tables } = await admin.query<{ name: string }>(
      `select c.table_name as name from information_schema.columns c join pg_class r on r.relname = c.table_name
         where c.column_name = 'organisation_id' and c.table_schema = 'public' and not r.relispartition order by 1`,
    );
    const counts: Record<string, number> = {};
    for (const { name } of tables) {
      const { rows } = await admin.query(`select count(*)::int as n from ${name} where organisation_id = $1`, [
        idOf(organisation),
      ]);
      counts[name] = rows[0].n;
    }
    return counts;
  });

/** Clears without a worker: one of the user's memory, one of a session. */
export const insertOpenClears = (perch: Perch, organisation: Organisation, { id, word }: MarkedUser) =>
  queryRows(
    perch,
    `insert into memory_clears (organisation_id, agent_id, id, last_sequence, owner, session_id)
       select $1, a.id, gen_random_uuid(), 0, c.owner, c.session_id
         from agents a, (values ('=' || $2, null), (null, 'chat-' || $3)) c (owner, session_id)
         where a.organisation_id = $1 and a.name = 'tools'`,
    [idOf(organisation), id, word],
  );

export const insertLostRun = (perch: Perch, organisation: Organisation, userId: string) =>
  queryRows(
    perch,
    `insert into invocations (organisation_id, id, accepted_at, agent_id, status, environment, user_id, message)
       select $1, uuid_at(t.at), t.at, a.id, 'running', 'production', $2, 'lost'
         from agents a, (select date_trunc('milliseconds', now()) as at) t where a.organisation_id = $1 and a.name = 'tools'`,
    [idOf(organisation), userId],
  );
