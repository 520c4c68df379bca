/** Aborted on SIGINT and SIGTERM, so that running commands stop and `finally` blocks put the machine back in order. */
export const interruption = new AbortController();

export function stopOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interruption.abort());
}
