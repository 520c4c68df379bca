import type { Database } from "../db/database.ts";
import type { Logger } from "../platform/logger.ts";
import { updateKeysLastUsedAt } from "./presented-key.ts";

export interface KeyUsage {
  readonly record: (keyId: string, at: Date) => void;
  readonly flush: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface KeyUsageDeps {
  readonly db: Database;
  readonly logger: Logger;
  readonly flushIntervalSeconds: number;
}

/** Collects the last use of each key and writes it in batches, so that a request does not cost a write. */
export function createKeyUsage({ db, logger, flushIntervalSeconds }: KeyUsageDeps): KeyUsage {
  let pending = new Map<string, Date>();

  const flush = async (): Promise<void> => {
    if (pending.size === 0) return;
    const batch = pending;
    pending = new Map();
    try {
      await updateKeysLastUsedAt(db.unscoped, batch);
    } catch (error) {
      // Put back what was not written, unless the key has been used again since.
      for (const [id, at] of batch) if (!pending.has(id)) pending.set(id, at);
      logger.warn({ err: error, keys: batch.size }, "key last-used times not written, will retry");
    }
  };

  const timer = setInterval(() => void flush(), flushIntervalSeconds * 1000).unref();
  return {
    record: (keyId, at) => pending.set(keyId, at),
    flush,
    stop: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}
