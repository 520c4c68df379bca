import type { Epoch } from "./epoch.ts";
import { bytesOf, createSharedCache, type SharedCacheOptions } from "./shared-cache.ts";

/** A value that was read under an epoch. */
export interface Cached<T> {
  readonly value: T;
  readonly epoch: string;
  readonly readAtMs: number;
}

interface Entry<T> extends Pick<Cached<T>, "epoch" | "readAtMs"> {
  readonly promise: Promise<T>;
  result?: Cached<T>;
}

export interface EpochCache<T> {
  /** The value cached under this epoch, unless it is too old; otherwise reads it, once for all concurrent callers. */
  readonly load: (key: string, epoch: Epoch, read: () => Promise<T>) => Promise<T>;
  /** The same without waiting: undefined if `load` would have to read, or is reading. */
  readonly current: (key: string, epoch: Epoch) => Cached<T> | undefined;
  /** The value last read, possibly stale: a guess that `isCurrent` or `load` confirms. */
  readonly peek: (key: string) => Cached<T> | undefined;
  /** Whether `load` would return this value. Costs less than looking it up again. */
  readonly isCurrent: (cached: Cached<T>, epoch: Epoch) => boolean;
}

interface EpochCacheOptions extends SharedCacheOptions {
  readonly now: () => number;
}

/**
 * A cache of values that are valid under an epoch. A caller gets the epoch before the value is read, and a change replaces the
 * epoch after it commits and before it is answered, so a value read too early is stored under an epoch that no later caller
 * presents. Until the epoch is replaced the old value is still served: for about two seconds if the process that made the change
 * dies in between (organisation-changes.ts repairs that), and never for longer than `maxAgeMs`.
 */
export function createEpochCache<T>({ now, ...bounds }: EpochCacheOptions): EpochCache<T> {
  const entries = createSharedCache<Entry<T>>(bounds);

  const read = async (key: string, epoch: Epoch, readValue: () => Promise<T>): Promise<T> => {
    const entry: Entry<T> = { epoch: epoch.value, readAtMs: now(), promise: readValue() };
    entries.set(key, entry, 0);
    try {
      const value = await entry.promise;
      entry.result = { value, epoch: entry.epoch, readAtMs: entry.readAtMs };
      if (entries.peek(key) === entry) entries.set(key, entry, bytesOf(value));
      return value;
    } catch (error) {
      if (entries.peek(key) === entry) entries.delete(key);
      throw error;
    }
  };

  const isCurrent = ({ epoch, readAtMs }: Pick<Cached<T>, "epoch" | "readAtMs">, { value, maxAgeMs }: Epoch): boolean =>
    epoch === value && now() - readAtMs < maxAgeMs;

  const freshEntry = (key: string, epoch: Epoch): Entry<T> | undefined => {
    const entry = entries.get(key);
    return entry && isCurrent(entry, epoch) ? entry : undefined;
  };

  return {
    load: (key, epoch, readValue) => freshEntry(key, epoch)?.promise ?? read(key, epoch, readValue),
    current: (key, epoch) => freshEntry(key, epoch)?.result,
    peek: (key) => entries.get(key)?.result,
    isCurrent,
  };
}
