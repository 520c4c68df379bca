import type { Tier } from "@perch/contract";
import { ApiError } from "../platform/api-error.ts";

/** How much of one scarce thing a process has, and the part of it that one organisation may hold at once. */
interface ShareRow {
  /** Its name in a refusal. */
  readonly what: string;
  readonly total: number;
  /** How long a caller waits for its turn before it is refused. A busy database needs more time than the rest. */
  readonly waitMs: number;
  /**
   * For work that keeps a core busy: a unit rests this many times as long as it was held, so no organisation works all
   * the time.
   */
  readonly rest?: number;
  /** How many may wait for each unit of an organisation's part, if not 32. */
  readonly maxWaitingPerUnit?: number;
  readonly free: number;
  readonly pro: number;
  readonly enterprise: number;
}

/**
 * Everything scarce in a process, and the part of it that one organisation may use, by its tier. The parts are small
 * enough that no single organisation can use all of it, and large enough that a sole organisation hardly notices. The
 * total of database transactions is the process's connections for organisations.
 */
export const shareTable = {
  databaseTransactions: {
    what: "database transactions",
    total: 6,
    waitMs: 5000,
    free: 0.34,
    pro: 0.5,
    enterprise: 0.67,
  },
  // Each keeps a core of the database busy, so most of them wait outside of it.
  logSearches: { what: "log searches", total: 2, waitMs: 5000, rest: 7, free: 0.5, pro: 0.5, enterprise: 0.5 },
  // The largest keep a core of the database busy for a second. A page of the console asks for several small ones.
  readsAcrossAgents: {
    what: "reads across agents",
    total: 3,
    waitMs: 5000,
    rest: 1,
    free: 0.34,
    pro: 0.34,
    enterprise: 0.67,
  },
  // Work whose cost an organisation chooses, which is done in threads: searches for secrets, checks against a schema,
  // comparisons of versions. A unit is a quarter of one thread's time, because it rests after its work.
  processorTime: {
    what: "tasks for the processor",
    total: 64,
    waitMs: 10_000,
    rest: 3,
    // An answer that is being searched has one piece that waits, and the calls under way are limited.
    maxWaitingPerUnit: 256,
    free: 0.016,
    pro: 0.032,
    enterprise: 0.0625,
  },
  // Each may hold a connection for seconds, while addresses of the organisation's choice do not answer.
  agentChecks: { what: "checks of agents", total: 32, waitMs: 2000, free: 0.1, pro: 0.25, enterprise: 0.5 },
  waitingRuns: {
    what: "requests that wait for their run",
    total: 896,
    waitMs: 2000,
    free: 0.05,
    pro: 0.25,
    enterprise: 0.5,
  },
  openStreams: { what: "event streams", total: 2000, waitMs: 2000, free: 0.01, pro: 0.1, enterprise: 0.6 },
  outboundCalls: { what: "calls to other servers", total: 2048, waitMs: 2000, free: 0.05, pro: 0.2, enterprise: 0.5 },
  deliveries: { what: "webhook deliveries", total: 200, waitMs: 2000, free: 0.04, pro: 0.08, enterprise: 0.12 },
  introspections: {
    what: "calls to issuers of user tokens",
    total: 256,
    waitMs: 2000,
    free: 0.03,
    pro: 0.06,
    enterprise: 0.12,
  },
  embeddings: { what: "texts for the local embedder", total: 64, waitMs: 2000, free: 0.1, pro: 0.25, enterprise: 0.5 },
} as const satisfies Record<string, ShareRow>;

/** How long one database statement of an organisation may take. */
const statementMs = { free: 5000, pro: 5000, enterprise: 10_000 } as const satisfies Record<Tier, number>;

/**
 * Four bytes for each character of the largest request, so that every organisation can cache at least one value of any
 * size.
 */
const largestValueBytes = 4.5 * 1024 * 1024;

/** How much of the memory for cached definitions one organisation may fill. */
const cachePart = { free: 0.05, pro: 0.2, enterprise: 0.5 } as const satisfies Record<Tier, number>;

export type ShareName = keyof typeof shareTable;
export const shareNames = Object.keys(shareTable) as ShareName[];

/** How much of `total` one organisation of this tier may hold: at least one. */
export const partOf = (name: ShareName, tier: Tier, total: number = shareTable[name].total): number =>
  Math.max(1, Math.floor(total * shareTable[name][tier]));

/** Gives back a unit. A second call does nothing. `workedMs`: how long the work took, if the unit was held for longer. */
export type GiveBack = (workedMs?: number) => void;

/** The organisation uses all of its part, or no work ends. Refused work was not begun, and may succeed later. */
export class ShareRefusal extends ApiError {
  constructor(code: "rate_limited" | "unavailable", message: string, retryAfterSeconds: number) {
    super(code, message, { retryAfterSeconds });
  }
}

/** One scarce thing of this process, shared by its organisations. */
export interface Share {
  /** Takes one unit. Waits in turn while the organisation holds its part; refuses when that takes too long. */
  readonly acquire: (organisationId: string, signal?: AbortSignal | null) => Promise<GiveBack>;
  /** Runs `work` while holding one unit that was acquired. */
  readonly hold: <T>(organisationId: string, work: () => Promise<T>) => Promise<T>;
  /** Takes one unit without waiting; undefined when the organisation holds its part, or everything is held. */
  readonly take: (organisationId: string) => GiveBack | undefined;
  /** The error for a caller that got nothing; counted as a refusal. */
  readonly refusal: (organisationId: string) => ShareRefusal;
  readonly held: () => number;
  readonly waiting: () => number;
}

/** The tiers of organisations that this process has lately served. */
export interface KnownTiers {
  readonly remember: (organisationId: string, tier: Tier) => void;
  readonly of: (organisationId: string) => Tier;
  readonly find: (organisationId: string) => Tier | undefined;
}

const maxKnownTiers = 100_000;

/** A request or a run brings its organisation's tier. Until then, the organisation gets the largest part. */
export function createKnownTiers(): KnownTiers {
  const tiers = new Map<string, Tier>();
  return {
    remember: (organisationId, tier) => {
      if (tiers.get(organisationId) === tier) return;
      if (tiers.size >= maxKnownTiers) tiers.clear();
      tiers.set(organisationId, tier);
    },
    of: (organisationId) => tiers.get(organisationId) ?? "enterprise",
    find: (organisationId) => tiers.get(organisationId),
  };
}

interface Waiter {
  readonly start: () => void;
}

/** The units that one organisation holds, and its waiting callers. It exists only while there are any. */
interface Holder {
  held: number;
  readonly queue: Waiter[];
}

interface ShareOptions {
  readonly name: ShareName;
  readonly tierOf: (organisationId: string) => Tier;
  readonly onRefused: (name: ShareName, organisationId: string) => void;
  /** The total from the table, unless the process is configured otherwise. */
  readonly total?: number;
  /** How long `hold` waits before it refuses. */
  readonly maxWaitMs: number;
  readonly rest?: number | undefined;
  /** How many may wait for each unit of the part. */
  readonly maxWaitingPerUnit?: number;
}

/** Short enough that a caller waiting for a resting unit still gets it in time. */
const maxRestMs = 2000;

/** Timers may fire this much too early. */
const earlyMs = 5;

/** Units are given to waiting organisations in turn, so one that asks often gets no more than one that asks rarely. */
export function createShare(options: ShareOptions): Share {
  const { name, tierOf, onRefused, total = shareTable[name].total, maxWaitMs, rest, maxWaitingPerUnit = 32 } = options;
  const holders = new Map<string, Holder>();
  /** Organisations with a waiting caller, in the order of their turns. */
  const turns = new Set<string>();
  let held = 0;
  let waiting = 0;
  /** When something was last given back. */
  let lastEndMs = performance.now();

  const partOfOwner = (owner: string): number => partOf(name, tierOf(owner), total);

  const holderOf = (owner: string): Holder => {
    const holder = holders.get(owner) ?? { held: 0, queue: [] };
    holders.set(owner, holder);
    return holder;
  };

  const refusal = (owner: string): ShareRefusal => {
    onRefused(name, owner);
    const { what } = shareTable[name];
    // The organisation did not cause this: no database transaction ended while it waited.
    if (name === "databaseTransactions" && performance.now() - lastEndMs > maxWaitMs - earlyMs)
      return new ShareRefusal("unavailable", `All ${what} of this node are stuck. Try again in 5 s.`, 5);
    const part = partOfOwner(owner);
    const message = `This organisation has too many ${what} under way (${part} at once are allowed here). Try again in 1 s.`;
    return new ShareRefusal("rate_limited", message, 1);
  };

  const mayStart = (owner: string, holder: Holder | undefined): boolean =>
    held < total && (holder?.held ?? 0) < partOfOwner(owner);

  /** Starts waiting callers, one of each organisation in turn, while units are free. */
  const startWaiting = (): void => {
    for (const owner of turns) {
      if (held >= total) return;
      const holder = holders.get(owner);
      const next = holder?.queue[0];
      if (!holder || !next || !mayStart(owner, holder)) continue;
      next.start();
      // To the end of the line.
      turns.delete(owner);
      if (holder.queue.length > 0) turns.add(owner);
    }
  };

  const give = (owner: string): GiveBack => {
    const holder = holderOf(owner);
    holder.held++;
    if (held === 0) lastEndMs = performance.now();
    held++;
    const startedMs = performance.now();
    const end = () => {
      holder.held--;
      held--;
      lastEndMs = performance.now();
      if (turns.size > 0) startWaiting();
      if (holder.held === 0 && holder.queue.length === 0) holders.delete(owner);
    };
    let isGiven = true;
    return (workedMs = performance.now() - startedMs) => {
      if (!isGiven) return;
      isGiven = false;
      if (rest === undefined) end();
      else setTimeout(end, Math.min(workedMs * rest, maxRestMs)).unref();
    };
  };

  const take: Share["take"] = (owner) => (mayStart(owner, holders.get(owner)) ? give(owner) : undefined);

  const wait = (owner: string, signal: AbortSignal | null | undefined): Promise<GiveBack> =>
    new Promise((resolve, reject) => {
      const holder = holderOf(owner);
      if (holder.queue.length >= partOfOwner(owner) * maxWaitingPerUnit) {
        reject(refusal(owner));
        return;
      }
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        holder.queue.splice(holder.queue.indexOf(waiter), 1);
        waiting--;
      };
      const waiter: Waiter = {
        start: () => {
          leave();
          resolve(give(owner));
        },
      };
      const giveUp = (reason: () => unknown) => {
        leave();
        if (holder.queue.length === 0) turns.delete(owner);
        if (holder.held === 0 && holder.queue.length === 0) holders.delete(owner);
        reject(reason());
      };
      const timer = setTimeout(giveUp, maxWaitMs, () => refusal(owner));
      const onAbort = () => giveUp(() => signal?.reason);
      signal?.addEventListener("abort", onAbort, { once: true });
      holder.queue.push(waiter);
      turns.add(owner);
      waiting++;
    });

  const acquire: Share["acquire"] = async (owner, signal) => {
    signal?.throwIfAborted();
    return take(owner) ?? wait(owner, signal);
  };

  return {
    acquire,
    hold: async (owner, work) => {
      // Takes a free unit in the same turn of the event loop.
      const giveBack = take(owner) ?? (await wait(owner, undefined));
      try {
        return await work();
      } finally {
        giveBack();
      }
    },
    take,
    refusal,
    held: () => held,
    waiting: () => waiting,
  };
}

export interface Shares {
  readonly tiers: KnownTiers;
  readonly of: Readonly<Record<ShareName, Share>>;
  readonly statementMs: (organisationId: string) => number;
  /** How many of `bytes` of cache one organisation may fill. */
  readonly cacheBytes: (organisationId: string, bytes: number) => number;
}

interface SharesOptions {
  readonly onRefused: (name: ShareName, organisationId: string) => void;
  readonly databaseConnections: number;
}

export function createShares({ onRefused, databaseConnections }: SharesOptions): Shares {
  const tiers = createKnownTiers();
  const totals: Partial<Record<ShareName, number>> = { databaseTransactions: databaseConnections };
  const shareOf = (name: ShareName): Share => {
    const { total, waitMs, rest, maxWaitingPerUnit }: ShareRow = shareTable[name];
    return createShare({
      name,
      tierOf: tiers.of,
      onRefused,
      total: totals[name] ?? total,
      maxWaitMs: waitMs,
      rest,
      ...(maxWaitingPerUnit !== undefined && { maxWaitingPerUnit }),
    });
  };
  return {
    tiers,
    of: Object.fromEntries(shareNames.map((name) => [name, shareOf(name)])) as Record<ShareName, Share>,
    statementMs: (organisationId) => statementMs[tiers.of(organisationId)],
    cacheBytes: (organisationId, bytes) =>
      Math.max(largestValueBytes, Math.floor(bytes * cachePart[tiers.of(organisationId)])),
  };
}
