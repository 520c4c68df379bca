import { LRUCache } from "lru-cache";
import type { Epoch } from "./gate.ts";

interface Entry<T> {
  readonly epoch: string;
  readonly readAtMs: number;
  readonly reading: Promise<T>;
  value?: { readonly is: T };
}

export interface EpochCache<T> {
  /** What was read under this very epoch and not too long ago; else reads it, once for all who ask at the same time. */
  readonly load: (key: string, epoch: Epoch, read: () => Promise<T>) => Promise<T>;
  /** What was last read, true or not any more. Good for a guess that `load` confirms. */
  readonly peek: (key: string) => { readonly is: T } | undefined;
}

interface EpochCacheOptions {
  readonly most: number;
  readonly now: () => number;
}

/**
 * A memory that is never wrong. The epoch was asked for before the value is read, and is replaced after a change commits,
 * so a value read too early carries an epoch that nobody will present again.
 */
export function createEpochCache<T>({ most, now }: EpochCacheOptions): EpochCache<T> {
  const entries = new LRUCache<string, Entry<T>>({ max: most });

  const read = async (key: string, epoch: Epoch, source: () => Promise<T>): Promise<T> => {
    const entry: Entry<T> = { epoch: epoch.value, readAtMs: now(), reading: source() };
    entries.set(key, entry);
    try {
      const is = await entry.reading;
      entry.value = { is };
      return is;
    } catch (error) {
      if (entries.peek(key) === entry) entries.delete(key);
      throw error;
    }
  };

  return {
    load: (key, epoch, source) => {
      const entry = entries.get(key);
      const counts = entry?.epoch === epoch.value && now() - entry.readAtMs < epoch.maxAgeMs;
      return counts ? entry.reading : read(key, epoch, source);
    },
    peek: (key) => entries.get(key)?.value,
  };
}
