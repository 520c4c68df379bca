import { sql } from "kysely";
import { beginning, type EraseStage, firstUuid, type LastRow, positionAfter, scannedRows } from "../erasure-stage.ts";

/** Takes the user's id out of audit entries. */
export const eraseAudit: EraseStage = {
  name: "audit_entries",
  erase: async (trx, { organisationId, userId, until }, { at = beginning, id = firstUuid }) => {
    const { rows } = await sql<LastRow & { readonly changed: number }>`
      select * from erase_audit_entries(
        ${organisationId}, ${userId}, ${at}::timestamptz, ${id}, ${until}, ${scannedRows})`.execute(trx);
    const [row] = rows;
    return { counts: { audit_entries: row?.changed ?? 0 }, position: row && positionAfter(row) };
  },
};
