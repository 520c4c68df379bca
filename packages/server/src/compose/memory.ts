import type { Config } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { actFor } from "../fairness/acting-organisation.ts";
import type { Share } from "../fairness/shares.ts";
import type { GuardedClient } from "../outbound/guarded-client.ts";
import { createLocalEmbedder } from "../outbound/models/local-embedder.ts";
import type { ResolveCall } from "../outbound/secrets/resolve-call.ts";
import type { Logger } from "../platform/logger.ts";
import type { Sealer } from "../platform/sealing.ts";
import { createEmbedText, type EmbedText } from "../resources/memory/embed-text.ts";
import { createRunClear, type RunClear } from "../resources/memory/run-clear.ts";
import { createSearchMemory, type SearchMemory } from "../resources/memory/search-memory.ts";
import { createFindEmbedder, type FindEmbedder } from "../resources/providers/find-embedder.ts";

export interface Memory {
  readonly findEmbedder: FindEmbedder;
  readonly embedText: EmbedText;
  readonly searchMemory: SearchMemory;
  readonly runClear: RunClear;
}

interface MemoryParts {
  readonly config: Config;
  readonly db: Database;
  readonly providerKeys: Sealer;
  readonly resolveCall: ResolveCall;
  readonly guarded: GuardedClient;
  readonly trusted: GuardedClient;
  readonly logger: Logger;
  readonly nowMs: () => number;
  /** The share of texts that wait for the local embedder. */
  readonly embeddings: Pick<Share, "hold">;
}

/** Memory functions that both the API and runs use. */
export function composeMemory(parts: MemoryParts): Memory {
  const { config, db, providerKeys, resolveCall, guarded, trusted, logger, nowMs, embeddings } = parts;
  const findEmbedder = createFindEmbedder({
    db,
    local: createLocalEmbedder(config.localEmbedderDir),
    embeddings,
    installation: config.providers,
    providerKeys,
    resolveCall,
    guardedFetch: guarded.fetch,
    trustedFetch: trusted.fetch,
    idleTimeoutMs: config.modelIdleTimeoutSeconds * 1000,
  });
  const embed = createEmbedText(findEmbedder);
  const embedText: EmbedText = (organisationId, ...rest) =>
    actFor(organisationId, () => embed(organisationId, ...rest));
  return {
    findEmbedder,
    embedText,
    searchMemory: createSearchMemory({ db, embedText, logger }),
    runClear: createRunClear({ db, now: nowMs }),
  };
}
