import type { EventOperationKey } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import { notFound } from "../../platform/api-error.ts";
import { parsePublicId } from "../../platform/ids.ts";
import type { AgentDirectory } from "../agents/agent-directory.ts";
import { cappedPage, maxCounted, single } from "../envelopes.ts";
import type { Handlers } from "../handlers.ts";
import * as queries from "./event-queries.ts";
import { toEvent } from "./to-event.ts";

interface EventDeps {
  readonly db: Database;
  readonly agents: AgentDirectory;
}

export const eventHandlers = ({ db, agents }: EventDeps) =>
  ({
    "GET /v1/events": async ({ query }, context) => {
      const { scope } = context;
      const agentId = query.agent_id === undefined ? undefined : (await agents.get(context, query.agent_id)).id;
      const { type, start_time, end_time } = query;
      const filter = { agentId, type, start_time, end_time };
      return db.inOrganisation(scope.organisationId, async (trx) => {
        const rows = await queries.listEvents(trx, scope, filter, query);
        return cappedPage(rows.map(toEvent), query, await queries.countEvents(trx, scope, filter, maxCounted + 1));
      });
    },

    "GET /v1/events/{event_id}": async ({ params }, { scope }) => {
      const id = parsePublicId("event", params.event_id);
      const row = id && (await db.inOrganisation(scope.organisationId, (trx) => queries.findEvent(trx, scope, id)));
      if (!row) throw notFound("event", params.event_id);
      return single(toEvent(row));
    },
  }) satisfies Handlers<EventOperationKey>;
