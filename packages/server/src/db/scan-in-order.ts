import { type RawBuilder, sql } from "kysely";
import type { OrganisationTransaction } from "./database.ts";
import { ofVisibleAgent, type VisibleAgents } from "./of-visible-agent.ts";

interface Scan<Place extends string> {
  readonly scope: VisibleAgents;
  /** Has `organisation_id` and `agent_id`. */
  readonly columns: readonly string[];
  /** `from … where …`, by what an index has. */
  readonly from: RawBuilder<unknown>;
  /** The order of that index. */
  readonly order: RawBuilder<unknown>;
  /** What tells where a row is in that order. */
  readonly place: readonly Place[];
  /** What no index has: compared in each row that is read. */
  readonly matches: readonly RawBuilder<boolean>[];
  readonly limit: number;
  /** What a request costs at most, however few rows match. */
  readonly maxRead: number;
}

export interface Scanned<Row, Place extends keyof Row> {
  /** Those that match, with the names of their agents. */
  readonly rows: readonly Row[];
  /** Whether more rows match than `limit`. */
  readonly isFull: boolean;
  /** The last row that was read, where there may be more that were not. */
  readonly stoppedAt: Pick<Row, Place> | undefined;
}

const refs = (columns: readonly string[]) => sql.join(columns.map((column) => sql.ref(column)));

/**
 * Reads rows of agents until `limit` match or `maxRead` were read. Rows of deleted agents, and of agents that the caller cannot see,
 * are read and left out. The agent is looked up for each row, not joined: a join might read every agent before the first row. Where
 * it stopped is looked for only if too few match, in the index alone, and in the same statement: another would see other rows.
 */
export async function scanInOrder<Row extends { readonly agent_name: string }, Place extends keyof Row & string>(
  trx: OrganisationTransaction,
  { scope, columns, from, order, place, matches, limit, maxRead }: Scan<Place>,
): Promise<Scanned<Row, Place>> {
  const ofAgent = sql`from agents a where a.organisation_id = r.organisation_id and a.id = r.agent_id`;
  const isMatch = sql.join(
    [...matches, ofVisibleAgent(scope), sql`(select a.deleted_at is null ${ofAgent})`],
    sql` and `,
  );
  const stoppedAt = sql.join(place.map((column) => sql`s.${sql.ref(column)} as ${sql.ref(`stopped_${column}`)}`));
  const { rows } = await sql<Record<string, unknown>>`
    with matching as materialized (
      select r.*, (select a.name ${ofAgent}) as agent_name
        from (select ${refs(columns)} ${from} order by ${order} limit ${maxRead}) r
        where ${isMatch} order by ${order} limit ${limit + 1}),
    stopped as (
      select ${refs(place)} ${from} order by ${order}
        limit (case when (select count(*) from matching) <= ${limit} then 1 else 0 end) offset ${maxRead - 1})
    select m.*, ${stoppedAt}
      from (select) one left join matching m on true left join stopped s on true order by ${order}`.execute(trx);
  const matching = rows.filter(({ agent_name }) => agent_name !== null) as unknown as Row[];
  const stopped = Object.fromEntries(place.map((column) => [column, rows[0]?.[`stopped_${column}`]])) as Pick<
    Row,
    Place
  >;
  const hasStopped = Object.values(stopped).every((value) => value !== null);
  return {
    rows: matching.slice(0, limit),
    isFull: matching.length > limit,
    stoppedAt: hasStopped ? stopped : undefined,
  };
}
