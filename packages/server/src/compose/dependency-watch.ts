import type { Logger } from "../platform/logger.ts";
import { withinLimit } from "../platform/within-limit.ts";

/** A part that this process can do without for a while, but not well. */
export interface Dependency {
  readonly name: string;
  /** Host and port, for the log. */
  readonly addresses: readonly string[];
  /** The functions that do not work while it is unavailable. */
  readonly effect: string;
  /** Throws if it does not answer. */
  readonly ping: () => Promise<unknown>;
}

interface WatchDeps {
  readonly dependencies: readonly Dependency[];
  readonly logger: Logger;
  readonly now: () => number;
}

export interface DependencyWatch {
  /**
   * The names of those that do not answer. Asks them at most every five seconds. Only the first time it waits for them, for a
   * second; later the answer is the last known one, because a probe may wait for no longer than a second itself.
   */
  readonly listSilent: () => Promise<readonly string[]>;
}

const freshMs = 5000;
const limitMs = 1000;

/** Any client may ask for readiness at any rate, so answers are shared. Each change of state is logged once. */
export function createDependencyWatch({ dependencies, logger, now }: WatchDeps): DependencyWatch {
  const silent = new Set<string>();
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let firstRound: Promise<unknown> | undefined;

  const ask = async ({ name, addresses, effect, ping }: Dependency): Promise<void> => {
    try {
      await withinLimit(limitMs, ping);
      if (silent.delete(name)) logger.info({ dependency: name, addresses }, "dependency answers again");
    } catch (error) {
      // One of several nodes stands for all.
      const err: unknown = error instanceof AggregateError ? error.errors[0] : error;
      if (!silent.has(name)) logger.warn({ dependency: name, addresses, effect, err }, "dependency does not answer");
      silent.add(name);
    }
  };

  return {
    listSilent: async () => {
      if (now() - askedAtMs >= freshMs) {
        askedAtMs = now();
        const round = Promise.all(dependencies.map(ask));
        firstRound ??= round;
      }
      await firstRound;
      return dependencies.map(({ name }) => name).filter((name) => silent.has(name));
    },
  };
}
