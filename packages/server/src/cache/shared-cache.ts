import { LRUCache } from "lru-cache";

/** A cache bounded by bytes, of which each owner may fill a part. */
export interface SharedCache<T> {
  readonly get: (key: string) => T | undefined;
  /** Without counting as a use. */
  readonly peek: (key: string) => T | undefined;
  /**
   * Drops the owner's oldest values if it would exceed its part. A single value that exceeds the part is not cached.
   */
  readonly set: (key: string, value: T, bytes: number) => void;
  readonly delete: (key: string) => void;
}

export interface SharedCacheOptions {
  readonly maxEntries: number;
  readonly maxBytes: number;
  /** How many of `maxBytes` one owner may fill. Keys begin with their owner and a space. */
  readonly partOf: (owner: string, maxBytes: number) => number;
}

/** The memory of an entry besides its value: keys, maps and dates. */
const entryBytes = 500;

/**
 * The approximate maximum size of a value: it is mostly text, of two bytes a character, and answers made from it are
 * stored too.
 */
export const bytesOf = (value: unknown): number => (value === undefined ? 0 : JSON.stringify(value).length * 4);

interface Owned {
  bytes: number;
  /** In the order in which they were stored. */
  readonly keys: Set<string>;
}

const ownerOf = (key: string): string => key.split(" ", 1)[0] ?? key;

export function createSharedCache<T extends object>(options: SharedCacheOptions): SharedCache<T> {
  const { maxEntries, maxBytes, partOf } = options;
  const owners = new Map<string, Owned>();
  const sizes = new Map<string, number>();

  const forget = (key: string): void => {
    const owner = ownerOf(key);
    const owned = owners.get(owner);
    if (!owned?.keys.delete(key)) return;
    owned.bytes -= sizes.get(key) ?? 0;
    sizes.delete(key);
    if (owned.keys.size === 0) owners.delete(owner);
  };
  const values = new LRUCache<string, T>({
    // Without `max`, for which lru-cache would allocate room for all entries at once.
    maxSize: maxBytes,
    sizeCalculation: (_, key) => sizes.get(key) ?? entryBytes,
    // Replaced values are forgotten before they are stored again.
    dispose: (_, key, reason) => void (reason !== "set" && forget(key)),
  });

  const makeRoom = (owned: Owned, part: number): void => {
    for (const key of owned.keys) {
      if (owned.bytes <= part) return;
      values.delete(key);
    }
  };

  return {
    get: (key) => values.get(key),
    peek: (key) => values.peek(key),
    set: (key, value, bytes) => {
      values.delete(key);
      const owner = ownerOf(key);
      const part = partOf(owner, maxBytes);
      const size = entryBytes + bytes;
      if (size > part) return;
      const owned = owners.get(owner) ?? { bytes: 0, keys: new Set<string>() };
      owners.set(owner, owned);
      makeRoom(owned, part - size);
      if (values.size >= maxEntries) values.pop();
      owners.set(owner, owned);
      owned.keys.add(key);
      owned.bytes += size;
      sizes.set(key, size);
      values.set(key, value);
    },
    delete: (key) => void values.delete(key),
  };
}
