import { sql } from "kysely";
import { listAgentIds } from "../agents/agent-queries.ts";
import { beginning, type EraseStage, type LastRow, positionAfter, scannedRows } from "../erasure-stage.ts";

/** Deletes entries that name the user, in the log of one agent after the other. `agentId` without `at`: that agent is done. */
export const eraseLogs: EraseStage = {
  name: "log_entries",
  erase: async (trx, { organisationId, userId, until }, position) => {
    const isWithin = position.at !== undefined;
    const agentId = isWithin ? position.agentId : (await listAgentIds(trx, organisationId, position.agentId, 1))[0];
    if (agentId === undefined) return { counts: {} };
    const { at = beginning, id = "0" } = isWithin ? position : {};
    const { rows } = await sql<LastRow & { readonly deleted: number }>`
      select * from erase_log_entries(
        ${organisationId}, ${agentId}, ${userId}, ${at}::timestamptz, ${id}::bigint, ${until}, ${scannedRows})`.execute(
      trx,
    );
    const [row] = rows;
    const next = row && positionAfter(row);
    return { counts: { log_entries: row?.deleted ?? 0 }, position: { agentId, ...next } };
  },
};
