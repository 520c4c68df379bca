const signals = { SIGINT: 2, SIGTERM: 15 };

/**
 * The kernel drops a signal to process 1, which the server is in a container, unless the process listens for it. A role listens once it
 * has started; until then, and in other commands, this does what the signal does to any other process.
 */
export function endOnSignals(): void {
  if (process.pid !== 1) return;
  for (const [signal, number] of Object.entries(signals)) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + number);
    });
  }
}
