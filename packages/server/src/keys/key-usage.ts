import type { Database } from "../db/database.ts";
import type { Logger } from "../platform/logger.ts";
import { markKeysUsed } from "./key-queries.ts";

export interface KeyUsage {
  readonly note: (keyId: string, at: Date) => void;
  readonly flush: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface KeyUsageDeps {
  readonly db: Database;
  readonly logger: Logger;
  readonly everySeconds: number;
}

/** Remembers when keys were last used and writes it in batches: a request must not cost a write. */
export function createKeyUsage({ db, logger, everySeconds }: KeyUsageDeps): KeyUsage {
  let used = new Map<string, Date>();

  const flush = async (): Promise<void> => {
    if (used.size === 0) return;
    const batch = used;
    used = new Map();
    try {
      await markKeysUsed(db.unscoped, batch);
    } catch (error) {
      // Keep what was not written, unless the key has been used again since.
      for (const [id, at] of batch) if (!used.has(id)) used.set(id, at);
      logger.warn({ err: error, keys: batch.size }, "could not write when keys were last used; will try again");
    }
  };

  const timer = setInterval(() => void flush(), everySeconds * 1000).unref();
  return {
    note: (keyId, at) => used.set(keyId, at),
    flush,
    stop: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}
