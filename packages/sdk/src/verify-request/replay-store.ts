/** Remembers the nonces of requests that passed, so that none passes twice. */
export interface ReplayStore {
  /**
   * Stores a nonce until `expiresAt`, and returns whether it was new. Looking and storing must be one step, such as
   * `SET nonce 1 NX PXAT …` of Redis: two copies of a request can arrive at the same time.
   */
  readonly add: (nonce: string, expiresAt: Date) => boolean | Promise<boolean>;
}

/** How many nonces to store. */
export interface MemoryReplayStoreOptions {
  /**
   * The most nonces that are stored at a time. A nonce is stored for about five and a half minutes. When the store is
   * full it throws, because without a nonce its request would pass again.
   *
   * @defaultValue `100_000`
   */
  readonly max?: number | undefined;
}

/** A replay store for a service that runs as one process. Several processes need one that they share. */
export function createMemoryReplayStore({ max = 100_000 }: MemoryReplayStoreOptions = {}): ReplayStore {
  // In order of arrival, so that the first to expire are near the front.
  const expiryByNonce = new Map<string, number>();
  const dropExpired = (nowMs: number): void => {
    for (const [nonce, expiresAtMs] of expiryByNonce) {
      if (expiresAtMs > nowMs) return;
      expiryByNonce.delete(nonce);
    }
  };
  return {
    add: (nonce, expiresAt) => {
      dropExpired(Date.now());
      if (expiryByNonce.has(nonce)) return false;
      if (expiryByNonce.size >= max)
        throw new Error(
          `The replay store is full with ${max} requests. Raise max, or share a store between processes.`,
        );
      expiryByNonce.set(nonce, expiresAt.getTime());
      return true;
    },
  };
}
