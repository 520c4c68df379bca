import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { type ClearForAWhile, createClearForAWhile } from "../memory/clear-memory.ts";
import { createSearchMemory, type SearchMemory } from "../memory/search-memory.ts";
import { createLocalEmbedder } from "../models/local-embedder.ts";
import type { GuardedClient } from "../platform/guarded-client.ts";
import type { Logger } from "../platform/logger.ts";
import type { Sealer } from "../platform/secrets.ts";
import { createFindEmbedder, type FindEmbedder } from "../providers/find-embedder.ts";

export interface Memory {
  readonly findEmbedder: FindEmbedder;
  readonly searchMemory: SearchMemory;
  readonly clearForAWhile: ClearForAWhile;
}

interface MemoryParts {
  readonly config: Config;
  readonly db: Database;
  readonly providerKeys: Sealer;
  readonly guarded: GuardedClient;
  readonly trusted: GuardedClient;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

/** What the API asks of memories, and runs too. */
export function composeMemory({ config, db, providerKeys, guarded, trusted, logger, nowMs }: MemoryParts): Memory {
  const findEmbedder = createFindEmbedder({
    db,
    local: createLocalEmbedder(config.localEmbedderDir),
    installation: config.providers,
    providerKeys,
    guardedFetch: guarded.fetch,
    trustedFetch: trusted.fetch,
    silenceMs: config.modelSilenceSeconds * 1000,
  });
  return {
    findEmbedder,
    searchMemory: createSearchMemory({ db, findEmbedder, logger }),
    clearForAWhile: createClearForAWhile({ db, now: nowMs }),
  };
}
