import { Counter, Gauge, type Registry } from "prom-client";
import { type Share, type ShareName, shareNames } from "../fairness/shares.ts";
import type { WorkKind, WorkMeter } from "../fairness/work-thread.ts";

export interface ShareMetrics {
  readonly shareRefused: (name: ShareName) => void;
  /** A thread has done a piece of an organisation's work. */
  readonly worked: WorkMeter;
  readonly watchShares: (shares: Readonly<Record<ShareName, Pick<Share, "held" | "waiting">>>) => void;
}

const labelOf = (name: ShareName): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const workKinds = ["redaction", "schema_check", "comparison"] as const satisfies readonly WorkKind[];

/** The organisations' total use of the scarce resources of this process. */
export function createShareMetrics(registry: Registry): ShareMetrics {
  const registers = [registry];
  const refusals = new Counter({
    name: "perch_share_refusals_total",
    help: "Requests and calls refused because their organisation held its share of something scarce in this process.",
    labelNames: ["share"],
    registers,
  });
  for (const name of shareNames) refusals.inc({ share: labelOf(name) }, 0);
  const workSeconds = new Counter({
    name: "perch_processor_work_seconds_total",
    help: "Time that the threads of this process worked for organisations, by kind of work. One thread for each kind.",
    labelNames: ["work"],
    registers,
  });
  for (const work of workKinds) workSeconds.inc({ work }, 0);
  let shares: Parameters<ShareMetrics["watchShares"]>[0] | undefined;
  const shareGauge = (name: string, help: string, read: "held" | "waiting") =>
    new Gauge({
      name,
      help,
      labelNames: ["share"],
      registers,
      collect() {
        for (const share of shareNames) this.set({ share: labelOf(share) }, shares?.[share][read]() ?? 0);
      },
    });
  shareGauge("perch_share_held", "What all organisations hold of each scarce thing of this process.", "held");
  shareGauge("perch_share_waiting", "Requests and calls that wait for their organisation's turn.", "waiting");
  return {
    shareRefused: (name) => refusals.inc({ share: labelOf(name) }),
    worked: (work, ms) => workSeconds.inc({ work }, ms / 1000),
    watchShares: (watched) => {
      shares = watched;
    },
  };
}
