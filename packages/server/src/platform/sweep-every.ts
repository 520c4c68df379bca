/** Work that is repeated every few seconds, and never twice at the same time. */
export interface Sweeper {
  /** Does it now, or waits for the one that is under way. */
  readonly sweep: () => Promise<void>;
  /** Returns when what is under way has ended. */
  readonly stop: () => Promise<void>;
}

/** `sweepOnce` must not reject: what it leaves, the next one does. */
export function sweepEvery(seconds: number, sweepOnce: () => Promise<void>): Sweeper {
  let sweeping: Promise<void> | undefined;
  const sweep = (): Promise<void> => {
    sweeping ??= sweepOnce().finally(() => {
      sweeping = undefined;
    });
    return sweeping;
  };
  const timer = setInterval(() => void sweep(), seconds * 1000).unref();
  return {
    sweep,
    stop: async () => {
      clearInterval(timer);
      await sweeping;
    },
  };
}
