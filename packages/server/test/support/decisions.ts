import { sql } from "kysely";
import { depsOf } from "../../src/compose/core.ts";
import { newUuid, parsePublicId } from "../../src/platform/ids.ts";
import { createDecideApproval, type Decision } from "../../src/resources/approvals/decide-approval.ts";
import type { Organisation, Perch } from "./harness.ts";

interface OpenApproval {
  readonly id: string;
  readonly tool: string;
  readonly call: number;
  readonly kind: string;
  readonly why: string;
}

const organisationUuid = ({ id }: Organisation): string => parsePublicId("organisation", id) ?? id;

/** The open approvals of a run, in the order of its calls. Waits until there are this many. */
export async function waitForApprovals(
  { server }: Perch,
  organisation: Organisation,
  requestId: string,
  count = 1,
): Promise<OpenApproval[]> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const { rows } = await server.core.db.inOrganisation(organisationUuid(organisation), (trx) =>
      sql<OpenApproval>`
        select id, tool, call, kind, why from approvals
          where run_id = ${parsePublicId("request", requestId)} and status = 'open' order by call`.execute(trx),
    );
    if (rows.length === count) return rows;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${requestId} does not wait for ${count} decisions`);
}

/** Decides as a key of its own would. The sweep of any process starts the run. */
export async function decide(perch: Perch, organisation: Organisation, id: string, decision: Decision): Promise<void> {
  const { core } = perch.server;
  const by = { type: "key", key_id: null, webhook_id: null, name: "test" } as const;
  const voter = `key:${newUuid()}`;
  const organisationId = organisationUuid(organisation);
  await core.db.inOrganisation(organisationId, async (trx) => {
    await createDecideApproval(depsOf(core))(trx, { organisationId, id }, decision, { voter, by });
    await sql`update waiting_runs set send_after = now() where status = 'ready'`.execute(trx);
  });
}
