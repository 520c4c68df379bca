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
import type { RevokeAtProvider } from "./revoke-at-provider.ts";
import { createRevokeMany, type RevocationOutcome } from "./revoke-many.ts";

export interface FinishDeps {
  readonly db: Database;
  readonly revokeAtProvider: RevokeAtProvider;
  readonly nowMs: () => number;
  readonly onPurged: (table: "connections", rows: number) => void;
}

/** For how long a provider is asked. The consent then stays until its user ends it there. */
const maxAgeMs = 24 * 3_600_000;
const maxStepMs = 30_000;
/** A provider that takes seconds for each answer must not use up the step: then the next agent has its turn. */
const maxTurnMs = 3000;
const pageRows = 500;
const maxAgents = 1000;

const isEnded = (result: RevocationOutcome): result is "done" | "not_offered" =>
  result === "done" || result === "not_offered";

interface Turn {
  readonly agent: DeletedAgent;
  readonly after?: string | undefined;
}

/** Steps of housekeeping, each for some seconds at most; the next one continues. Neither reads connections in use. */
export function createFinishRevocations({ db, revokeAtProvider, nowMs, onPurged }: FinishDeps) {
  const isOverdue = (since: Date): boolean => nowMs() - since.getTime() >= maxAgeMs;
  const beginPass = () => createRevokeMany({ revokeAtProvider, nowMs, untilMs: nowMs() + maxStepMs });
  type Pass = ReturnType<typeof beginPass>;

  const finish = async (pass: Pass, key: RevocationKey): Promise<void> => {
    const mustEnd = isOverdue(key.revokedAt);
    if (pass.isSkipped(key.organisationId) && !mustEnd) return;
    const row = await db.inOrganisation(key.organisationId, (trx) => findConnectionToRevoke(trx, key));
    if (!row) return;
    const result = await pass.revoke(row);
    if (!isEnded(result) && !mustEnd) return;
    const outcome = isEnded(result) ? result : "failed";
    await db.inOrganisation(key.organisationId, (trx) => updateRevokedAtProvider(trx, row, outcome));
  };

  /**
   * The next connections of a deleted agent. Undefined if there are no more, or if the rest has to wait for the next
   * pass.
   */
  const deletePage = async (pass: Pass, { agent, after }: Turn): Promise<Turn | undefined> => {
    const { organisationId } = agent;
    const mustEnd = isOverdue(agent.deletedAt);
    if (pass.isSkipped(organisationId) && !mustEnd) return undefined;
    const rows = await db.inOrganisation(organisationId, (trx) => listConnectionsOfAgent(trx, agent, after, pageRows));
    const until = nowMs() + maxTurnMs;
    let isCut = false;
    const ended: string[] = [];
    await pass.each(rows, async (row) => {
      if (!mustEnd && nowMs() >= until) isCut = true;
      else if (mustEnd || isEnded(await pass.revoke(row))) ended.push(row.id);
    });
    const deleted = await db.inOrganisation(organisationId, (trx) => deleteConnections(trx, organisationId, ended));
    onPurged("connections", deleted);
    if (ended.length === 0 || (rows.length < pageRows && !isCut)) return undefined;
    return { agent, after: isCut ? after : rows.at(-1)?.id };
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
      const agents = await listDeletedAgentsWithConnections(db.unscoped, maxAgents);
      const turns: Turn[] = agents.map((agent) => ({ agent }));
      for (let turn = turns.shift(); turn && nowMs() < until; turn = turns.shift()) {
        const next = await deletePage(pass, turn);
        if (next) turns.push(next);
      }
    },
  };
}
