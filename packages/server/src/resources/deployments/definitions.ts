import { agentDefaults } from "@perch/contract";
import { bytesOf, createSharedCache } from "../../cache/shared-cache.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { Shares } from "../../fairness/shares.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import type { Logger } from "../../platform/logger.ts";
import { createLruCache } from "../../platform/lru-cache.ts";
import type { AgentRow } from "../agents/agent-queries.ts";
import { storedDefinition } from "../agents/to-agent.ts";
import { addRecordBytes } from "../quotas/stored-bytes.ts";
import { definitionOf, findVersion, type VersionRow } from "./version-queries.ts";
import { checksumOf, type Definition } from "./version-rules.ts";

/** A definition with the digest that names it. Without a digest, runs carry the definition itself. */
export interface NamedDefinition {
  readonly definition: Definition;
  readonly definitionDigest?: string;
}

/** The definition that a run names: a version or, if that is null, a draft. */
export interface DefinitionName extends AgentKey {
  readonly version: string | null;
  readonly definitionDigest: string;
}

/** Definitions of runs, by the digest of their content: a name stands for the same definition for ever, so no cached one is stale. */
export interface Definitions {
  readonly nameVersion: (agent: AgentKey, row: Pick<VersionRow, "definition" | "checksum">) => NamedDefinition;
  /** Saves the draft at its first use. If that fails, the draft gets no name. */
  readonly nameDraft: (agent: AgentRow) => Promise<NamedDefinition>;
  /** Undefined only if the database has lost it, as after the restore of an older backup. */
  readonly find: (name: DefinitionName) => Promise<Definition | undefined>;
}

interface DefinitionsDeps {
  readonly db: Database;
  readonly cacheBytes: Shares["cacheBytes"];
  readonly logger: Logger;
  readonly now: () => number;
}

/** Stands in for a definition that is lost, in the record of the run that fails because of it. */
export const lostDefinition: Definition = { ...agentDefaults, model: "perch/unknown" };

const maxDefinitions = 20_000;
const maxBytes = 64 * 1024 * 1024;

const digestBytes = (digest: string): Buffer => Buffer.from(digest, "base64url");
const monthOf = (nowMs: number): string => `${new Date(nowMs).toISOString().slice(0, 7)}-01`;

async function findDraft(trx: OrganisationTransaction, name: DefinitionName) {
  return trx
    .selectFrom("draft_definitions")
    .select("definition")
    .where("organisation_id", "=", name.organisationId)
    .where("agent_id", "=", name.agentId)
    .where("digest", "=", digestBytes(name.definitionDigest))
    .limit(1)
    .executeTakeFirst();
}

/** By its label, which has an index. Its content must be the one that the run named. */
async function findNamedVersion(trx: OrganisationTransaction, name: DefinitionName, label: string) {
  const row = await findVersion(trx, name, label);
  return row?.checksum.equals(digestBytes(name.definitionDigest)) ? row : undefined;
}

async function insertDraft(
  trx: OrganisationTransaction,
  agent: AgentRow,
  digest: string,
  month: string,
): Promise<void> {
  const definition = JSON.stringify(agent.definition);
  const { numInsertedOrUpdatedRows = 0n } = await trx
    .insertInto("draft_definitions")
    .values({
      organisation_id: agent.organisation_id,
      agent_id: agent.id,
      digest: digestBytes(digest),
      month,
      definition,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows > 0n) await addRecordBytes(trx, agent.organisation_id, Buffer.byteLength(definition));
}

export function createDefinitions({ db, cacheBytes: partOf, logger, now }: DefinitionsDeps): Definitions {
  const cache = createSharedCache<Definition>({ maxEntries: maxDefinitions, maxBytes, partOf });
  const reads = new Map<string, Promise<Definition | undefined>>();
  const saved = createLruCache<string, true>(maxDefinitions);
  const named = new WeakMap<AgentRow, Promise<NamedDefinition>>();
  const keyOf = ({ organisationId, agentId }: AgentKey, digest: string) => `${organisationId} ${agentId} ${digest}`;

  /** Returns the cached definition if it is equal; else caches this one. */
  const keep = (key: string, definition: Definition): Definition => {
    const cached = cache.get(key);
    if (cached) return cached;
    cache.set(key, definition, bytesOf(definition));
    return definition;
  };

  const read = async (key: string, name: DefinitionName): Promise<Definition | undefined> => {
    const { organisationId, version } = name;
    const row = await db.inOrganisation(organisationId, (trx) =>
      version === null ? findDraft(trx, name) : findNamedVersion(trx, name, version),
    );
    return row && keep(key, definitionOf(row));
  };

  const saveDraft = async (agent: AgentRow): Promise<NamedDefinition> => {
    const { definition } = storedDefinition(agent);
    const definitionDigest = checksumOf(definition).toString("base64url");
    const key = keyOf({ organisationId: agent.organisation_id, agentId: agent.id }, definitionDigest);
    const month = monthOf(now());
    try {
      if (!saved.has(`${key} ${month}`))
        await db.inOrganisation(agent.organisation_id, (trx) => insertDraft(trx, agent, definitionDigest, month));
    } catch (error) {
      logger.warn({ err: error, agentId: agent.id }, "draft not saved, its runs carry it");
      return { definition };
    }
    saved.set(`${key} ${month}`, true);
    return { definition: keep(key, definition), definitionDigest };
  };

  return {
    nameVersion: (agent, row) => {
      const definitionDigest = row.checksum.toString("base64url");
      return { definition: keep(keyOf(agent, definitionDigest), definitionOf(row)), definitionDigest };
    },
    // Once per row object: a cached row is invoked many times, and a row that was read anew may have changed.
    nameDraft: (agent) => {
      const earlier = named.get(agent);
      if (earlier) return earlier;
      const naming = saveDraft(agent);
      named.set(agent, naming);
      return naming;
    },
    find: async (name) => {
      const key = keyOf(name, name.definitionDigest);
      const cached = cache.get(key);
      if (cached) return cached;
      const reading = reads.get(key) ?? read(key, name).finally(() => reads.delete(key));
      reads.set(key, reading);
      return reading;
    },
  };
}
