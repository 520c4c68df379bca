import { sql } from "kysely";
import type { Database } from "../../db/database.ts";
import {
  beginning,
  type EraseStage,
  erasedDeliveryError,
  firstUuid,
  type LastRow,
  positionAfter,
  scannedRows,
} from "../erasure-stage.ts";
import { deleteConnections, listConnectionsOfUser } from "./revocation-queries.ts";
import type { RevokeAtProvider } from "./revoke-at-provider.ts";

interface EraseDeps {
  readonly db: Database;
  readonly revokeAtProvider: RevokeAtProvider;
}

/** Their providers are asked at the same time. */
const connectionsTogether = 10;
const providerMs = 5000;

/** Informs each provider once. A repetition informs them again, which changes nothing. */
export const createEraseConnections = ({ db, revokeAtProvider }: EraseDeps): EraseStage => ({
  name: "connections",
  prepare: async (user) => {
    const connections = await db.inOrganisation(user.organisationId, (trx) =>
      listConnectionsOfUser(trx, user, connectionsTogether),
    );
    await Promise.all(connections.map((connection) => revokeAtProvider(connection, providerMs)));
    return connections.map(({ id }) => id);
  },
  erase: async (trx, { organisationId }, _, ids: readonly string[]) => ({
    counts: { connections: await deleteConnections(trx, organisationId, ids) },
    position: ids.length === connectionsTogether ? {} : undefined,
  }),
});

/**
 * Takes the user's id out of events about connections of the user that are gone: no new ones come. An organisation that never had a
 * connection has no such events, and none are read.
 */
export const eraseConnectionEvents: EraseStage = {
  name: "connection_events",
  erase: async (trx, { organisationId, userId, until }, { at = beginning, id = firstUuid }) => {
    const { rows } = await sql<
      LastRow & { readonly changed: number; readonly cancelled: number; readonly attempted: number }
    >`
      select e.* from erase_connection_events(
          ${organisationId}, ${userId}, ${at}::timestamptz, ${id}, ${until}, ${erasedDeliveryError}, ${scannedRows}) e
        where exists (select from connection_counts where organisation_id = ${organisationId})`.execute(trx);
    const [row] = rows;
    if (!row) return { counts: {} };
    const counts = { events: row.changed, deliveries: row.cancelled, delivery_attempts: row.attempted };
    return { counts, position: positionAfter(row) };
  },
};
