import type { Database } from "../db/database.ts";
import type { Logger } from "../platform/logger.ts";
import { type PresentedKey, updateKeysLastUsedAt } from "./presented-key.ts";
import { updateSessionsLastUsedAt } from "./presented-session.ts";

export interface KeyUsage {
  readonly record: (key: Pick<PresentedKey, "id" | "session">, at: Date) => void;
  readonly flush: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface KeyUsageDeps {
  readonly db: Database;
  readonly logger: Logger;
  readonly flushIntervalSeconds: number;
}

type UpdateLastUsedAt = (db: Database["unscoped"], used: ReadonlyMap<string, Date>) => Promise<void>;

function createBatch(db: Database, logger: Logger, what: "key" | "session", update: UpdateLastUsedAt) {
  let pending = new Map<string, Date>();
  return {
    add: (id: string, at: Date) => void pending.set(id, at),
    write: async (): Promise<void> => {
      if (pending.size === 0) return;
      const batch = pending;
      pending = new Map();
      try {
        await update(db.unscoped, batch);
      } catch (error) {
        // Puts back times that were not written, unless the key has been used again since.
        for (const [id, at] of batch) if (!pending.has(id)) pending.set(id, at);
        logger.warn({ err: error, [`${what}s`]: batch.size }, `${what} last-used times not written, will retry`);
      }
    },
  };
}

/** Collects the last use of each key and session and writes it in batches, so that a request does not cost a write. */
export function createKeyUsage({ db, logger, flushIntervalSeconds }: KeyUsageDeps): KeyUsage {
  const keys = createBatch(db, logger, "key", updateKeysLastUsedAt);
  const sessions = createBatch(db, logger, "session", updateSessionsLastUsedAt);
  const flush = async (): Promise<void> => {
    await keys.write();
    await sessions.write();
  };
  const timer = setInterval(() => void flush(), flushIntervalSeconds * 1000).unref();
  return {
    record: ({ id, session }, at) => {
      if (!session?.person) keys.add(id, at);
      if (session) sessions.add(session.id, at);
    },
    flush,
    stop: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}
