import { LRUCache } from "lru-cache";
import type { Epoch } from "./epoch.ts";

interface Entry<T> {
  readonly epoch: string;
  readonly readAtMs: number;
  readonly promise: Promise<T>;
  result?: { readonly value: T };
}

export interface EpochCache<T> {
  /** The value cached under this epoch, unless it is too old; otherwise reads it, once for all concurrent callers. */
  readonly load: (key: string, epoch: Epoch, read: () => Promise<T>) => Promise<T>;
  /** The value last read, possibly stale: a guess that `load` confirms. */
  readonly peek: (key: string) => { readonly value: T } | undefined;
}

interface EpochCacheOptions {
  readonly maxEntries: number;
  readonly now: () => number;
}

/**
 * A cache that serves no value from before a committed change. The caller gets the epoch before the value is read, and a change
 * replaces the epoch after it commits, so a value read too early is stored under an epoch that no later caller presents.
 */
export function createEpochCache<T>({ maxEntries, now }: EpochCacheOptions): EpochCache<T> {
  const entries = new LRUCache<string, Entry<T>>({ max: maxEntries });

  const read = async (key: string, epoch: Epoch, readValue: () => Promise<T>): Promise<T> => {
    const entry: Entry<T> = { epoch: epoch.value, readAtMs: now(), promise: readValue() };
    entries.set(key, entry);
    try {
      const value = await entry.promise;
      entry.result = { value };
      return value;
    } catch (error) {
      if (entries.peek(key) === entry) entries.delete(key);
      throw error;
    }
  };

  return {
    load: (key, epoch, readValue) => {
      const entry = entries.get(key);
      const isFresh = entry?.epoch === epoch.value && now() - entry.readAtMs < epoch.maxAgeMs;
      return isFresh ? entry.promise : read(key, epoch, readValue);
    },
    peek: (key) => entries.get(key)?.result,
  };
}
