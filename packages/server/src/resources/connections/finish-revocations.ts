import type { Database } from "../../db/database.ts";
import {
  type DeletedAgent,
  deleteConnections,
  findConnectionToRevoke,
  listConnectionsOfAgent,
  listConnectionsToRevoke,
  listDeletedAgentsWithConnections,
  type RevocationKey,
  updateRevokedAtProvider,
} from "./revocation-queries.ts";
import { createTellMany } from "./tell-many-providers.ts";
import type { TellProvider } from "./tell-provider.ts";

interface FinishDeps {
  readonly db: Database;
  readonly tellProvider: TellProvider;
  readonly nowMs: () => number;
  readonly onDeleted: (connections: number) => void;
}

/** For how long a provider is asked. The consent then stays until its user ends it there. */
const maxAgeMs = 24 * 3_600_000;
const maxStepMs = 30_000;
const pageRows = 500;
const maxAgents = 1000;

/** Steps of housekeeping, each for some seconds at most: what it leaves, the next one does. Neither reads connections in use. */
export function createFinishRevocations({ db, tellProvider, nowMs, onDeleted }: FinishDeps) {
  const isOverdue = (since: Date): boolean => nowMs() - since.getTime() >= maxAgeMs;
  const beginPass = () => createTellMany({ tellProvider, nowMs, untilMs: nowMs() + maxStepMs });
  type Pass = ReturnType<typeof beginPass>;

  const finish = async (pass: Pass, key: RevocationKey): Promise<void> => {
    const mustEnd = isOverdue(key.revokedAt);
    if (pass.isSkipped(key.organisationId) && !mustEnd) return;
    const row = await db.inOrganisation(key.organisationId, (trx) => findConnectionToRevoke(trx, key));
    if (!row) return;
    const result = await pass.tell(row);
    const isTold = result === "done" || result === "not_offered";
    if (!isTold && !mustEnd) return;
    await db.inOrganisation(key.organisationId, (trx) => updateRevokedAtProvider(trx, row, isTold ? result : "failed"));
  };

  /** The next connections of a deleted agent. Undefined: there are no more, or the rest has to wait for the next pass. */
  const deletePage = async (pass: Pass, agent: DeletedAgent, after?: string): Promise<string | undefined> => {
    const { organisationId } = agent;
    const rows = await db.inOrganisation(organisationId, (trx) => listConnectionsOfAgent(trx, agent, after, pageRows));
    const mustEnd = isOverdue(agent.deletedAt);
    const ended: string[] = [];
    await pass.each(rows, async (row) => {
      const result = mustEnd ? "not_offered" : await pass.tell(row);
      if (result === "done" || result === "not_offered") ended.push(row.id);
    });
    onDeleted(await db.inOrganisation(organisationId, (trx) => deleteConnections(trx, organisationId, ended)));
    return rows.length < pageRows || ended.length === 0 ? undefined : rows.at(-1)?.id;
  };

  return {
    /** Tells providers of connections that were revoked while they did not answer. */
    revocations: async (): Promise<void> => {
      const pass = beginPass();
      const until = nowMs() + maxStepMs;
      let last: RevocationKey | undefined;
      do {
        const page = await listConnectionsToRevoke(db.unscoped, last, pageRows);
        await pass.each(page, (key) => finish(pass, key));
        last = page.length < pageRows ? undefined : page.at(-1);
      } while (last && nowMs() < until);
    },
    /** Tells providers of the connections of deleted agents, and deletes them. Agents take turns: one may have millions. */
    ofDeletedAgents: async (): Promise<void> => {
      const pass = beginPass();
      const until = nowMs() + maxStepMs;
      const turns: { readonly agent: DeletedAgent; readonly after?: string }[] = (
        await listDeletedAgentsWithConnections(db.unscoped, maxAgents)
      ).map((agent) => ({ agent }));
      for (let turn = turns.shift(); turn && nowMs() < until; turn = turns.shift()) {
        const after = await deletePage(pass, turn.agent, turn.after);
        if (after !== undefined) turns.push({ agent: turn.agent, after });
      }
    },
  };
}
