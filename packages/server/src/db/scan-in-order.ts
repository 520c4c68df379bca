import { type RawBuilder, sql } from "kysely";
import type { OrganisationTransaction } from "./database.ts";
import { ofVisibleAgent, type VisibleAgents } from "./of-visible-agent.ts";

interface Scan {
  readonly scope: VisibleAgents;
  /** `select … from … where …`, by the columns of an index, with `organisation_id` and `agent_id`. */
  readonly select: RawBuilder<unknown>;
  /** The order of that index. */
  readonly order: RawBuilder<unknown>;
  /** Conditions that no index has: compared in each row that is read. */
  readonly matches: readonly RawBuilder<boolean>[];
  readonly limit: number;
  /** The maximum cost of a request, however few rows match. */
  readonly maxRead: number;
}

export interface Scanned<Row> {
  /** Those that match, with the names of their agents. */
  readonly rows: readonly Row[];
  /** Whether more rows match than `limit`. */
  readonly isFull: boolean;
  /** The last row that was read, if there may be more. */
  readonly stoppedAt: Row | undefined;
}

type ReadRow<Row> = Row & { readonly is_match: boolean | null; readonly read_rows: number };

/**
 * Reads rows of agents until `limit` match or `maxRead` were read. Rows of deleted agents, and of agents that the caller cannot see,
 * are read and left out. The agent is looked up for each row, not joined: a join might read every agent before the first row. All
 * three mentions of the order are needed for the database to see that it need not sort, and can stop at the last row of a page. The
 * limit is a subquery because the database plans to read a plain one whole, and then prefers to sort all rows of a day.
 */
export async function scanInOrder<Row extends { readonly agent_name: string }>(
  trx: OrganisationTransaction,
  { scope, select, order, matches, limit, maxRead }: Scan,
): Promise<Scanned<Row>> {
  const ofAgent = sql`from agents a where a.organisation_id = r.organisation_id and a.id = r.agent_id`;
  const isVisible = [ofVisibleAgent(scope), sql`(select a.deleted_at is null ${ofAgent})`];
  const isMatch = sql`(${sql.join([...matches, ...isVisible], sql` and `)})`;
  const { rows } = await sql<ReadRow<Row>>`
    select r.*, (select a.name ${ofAgent}) as agent_name, ${isMatch} as is_match
      from (select o.*, (row_number() over (order by ${order}))::int as read_rows
              from (${select} order by ${order} limit (select ${maxRead}::int)) o) r
      where read_rows = ${maxRead} or ${isMatch}
      order by ${order} limit ${limit + 1}`.execute(trx);
  const matching = rows.filter(({ is_match }) => is_match);
  return {
    rows: matching.slice(0, limit),
    isFull: matching.length > limit,
    stoppedAt: rows.find(({ read_rows }) => read_rows === maxRead),
  };
}
