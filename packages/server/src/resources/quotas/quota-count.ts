import { type RawBuilder, sql } from "kysely";
import type { Counted } from "../resource.ts";

export const ofOrganisation = ({ organisationId }: Counted) => sql`organisation_id = ${organisationId}`;
export const ofAgent = ({ organisationId, agentId }: Counted) =>
  sql`organisation_id = ${organisationId} and agent_id = ${agentId}`;

/** Counts rows up to `max`. If only some rows of a table count, each part is a range of one index. */
export const countUpTo = (rows: readonly RawBuilder<unknown>[], max: number): RawBuilder<number> =>
  sql<number>`(select least(count(*), ${max}) from (${sql.join(
    rows.map((each) => sql`(${each} limit ${max})`),
    sql` union all `,
  )}) counted)::int`;
