import { parsePublicId } from "../../../src/platform/ids.ts";
import { toConnection } from "../../../src/resources/connections/to-connection.ts";
import { insertEvent } from "../../../src/resources/events/event-queries.ts";
import type { Organisation, Perch } from "../harness.ts";
import { insertConnection, readConnection, type StoredConnection } from "../stored-connections.ts";

/** A connection whose provider takes the consent back, with its event and with a link to consent again. Its public id. */
export async function insertLostConnection(
  perch: Perch,
  organisation: Organisation,
  given: StoredConnection & { readonly userId: string },
): Promise<string> {
  const id = await insertConnection(perch, organisation, { ...given, status: "needs_reauth" });
  const { grant: _, ...row } = await readConnection(perch, organisation, id);
  const { organisation_id: organisationId, agent_id: agentId } = row;
  await perch.server.core.db.inOrganisation(organisationId, async (trx) => {
    const data = toConnection(row);
    await insertEvent(trx, { organisationId, agentId, type: "connection.needs_reauth", data });
    await trx
      .insertInto("connection_links")
      .values({
        organisation_id: organisationId,
        connection_id: parsePublicId("connection", id) ?? "",
        secret_digest: Buffer.alloc(32),
        return_url: `https://app.example/connected?for=${given.userId}`,
        sealed_flow: Buffer.alloc(1),
        expires_at: new Date(Date.now() + 600_000),
      })
      .execute();
  });
  return id;
}
