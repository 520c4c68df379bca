type Payload = Record<string, unknown> & { readonly grantId?: string; readonly accountId?: string; consumed?: number };

/** The storage of an account provider. The package's own store forgets all but the last thousand entries. */
export interface AccountStore {
  readonly adapter: new (model: string) => object;
  /** The ids of the grants that a user has given. */
  readonly grantsOf: (accountId: string) => string[];
  readonly hasGrant: (id: string) => boolean;
  readonly deleteGrant: (id: string) => void;
  readonly count: (model: string) => number;
}

export function createAccountStore(): AccountStore {
  const rows = new Map<string, { readonly payload: Payload; readonly endsAtMs: number }>();
  const find = (key: string): Payload | undefined => {
    const row = rows.get(key);
    return row && row.endsAtMs > Date.now() ? row.payload : undefined;
  };
  const deleteByGrant = (id: string): void => {
    for (const [key, { payload }] of rows) if (payload.grantId === id) rows.delete(key);
  };
  const grant = "Grant:";

  class Adapter {
    readonly #model: string;
    constructor(model: string) {
      this.#model = model;
    }
    async upsert(id: string, payload: Payload, seconds?: number): Promise<void> {
      const endsAtMs = seconds === undefined ? Infinity : Date.now() + seconds * 1000;
      rows.set(`${this.#model}:${id}`, { payload, endsAtMs });
    }
    async find(id: string): Promise<Payload | undefined> {
      return find(`${this.#model}:${id}`);
    }
    async findByUid(uid: string): Promise<Payload | undefined> {
      const isSession = (key: string) => key.startsWith("Session:");
      return [...rows].find(([key, { payload }]) => isSession(key) && payload.uid === uid)?.[1].payload;
    }
    async consume(id: string): Promise<void> {
      const payload = find(`${this.#model}:${id}`);
      if (payload) payload.consumed = Math.floor(Date.now() / 1000);
    }
    async destroy(id: string): Promise<void> {
      rows.delete(`${this.#model}:${id}`);
    }
    async revokeByGrantId(id: string): Promise<void> {
      deleteByGrant(id);
    }
  }

  return {
    adapter: Adapter,
    grantsOf: (accountId) =>
      [...rows].flatMap(([key, { payload }]) =>
        key.startsWith(grant) && payload.accountId === accountId ? [key.slice(grant.length)] : [],
      ),
    hasGrant: (id) => find(grant + id) !== undefined,
    deleteGrant: (id) => {
      rows.delete(grant + id);
      deleteByGrant(id);
    },
    count: (model) => [...rows.keys()].filter((key) => key.startsWith(`${model}:`)).length,
  };
}
