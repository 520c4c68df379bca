import { ignoreSignals, type Stop } from "./signals.ts";

/** What `perch-server all` tells each of its two processes, and hears from them. */
export type Order = { readonly perch: "stop" | "metrics" };
export type Report = { readonly perch: "started" } | { readonly perch: "metrics"; readonly text: string };

const report = (message: Report): void => {
  if (process.connected) process.send?.(message);
};

const endOrphan = (): never => process.exit(1);

/** From now on. If the other dies, this one dies too, as when both were one process, and its ports are free for the next. */
export function endWithSupervisor(): void {
  process.once("disconnect", endOrphan);
  if (!process.connected) endOrphan();
}

interface Supervised {
  readonly stop: Stop;
  /** All metrics of this process, as Prometheus reads them. */
  readonly readMetrics: () => Promise<string>;
}

/**
 * Tells the process that started this one that it has started, and obeys it. Signals are for that process alone, since a terminal
 * or systemd sends them to both.
 */
export function followSupervisor({ stop, readMetrics }: Supervised): void {
  const obey = async ({ perch }: Order): Promise<void> => {
    if (perch === "metrics") return report({ perch, text: await readMetrics().catch(() => "") });
    await stop("order");
    process.off("disconnect", endOrphan);
    if (process.connected) process.disconnect();
  };
  ignoreSignals();
  process.on("message", (message: Order) => void obey(message));
  report({ perch: "started" });
}
