import type { OrganisationTransaction } from "../db/database.ts";
import { newUuid } from "../platform/ids.ts";

export type EventType = "deployment.activated" | "deployment.failed" | "deployment.rolled_back";

interface NewEvent {
  readonly organisationId: string;
  readonly agentId: string;
  readonly type: EventType;
  /** As it will be delivered: in the wire form. */
  readonly data: object;
}

/** In the transaction of what it tells of: there is never one without the other. */
export const insertEvent = async (
  trx: OrganisationTransaction,
  { organisationId, agentId, type, data }: NewEvent,
): Promise<void> => {
  await trx
    .insertInto("events")
    .values({ organisation_id: organisationId, id: newUuid(), agent_id: agentId, type, data: JSON.stringify(data) })
    .execute();
};
