import { Gauge, type Registry } from "prom-client";

interface OpenErasures {
  readonly open: number;
  readonly oldestSeconds: number;
}

export interface ErasureMetrics {
  /** Only workers call it. */
  readonly watchErasures: (count: () => Promise<OpenErasures>) => void;
}

export const createErasureMetrics = (registry: Registry): ErasureMetrics => ({
  watchErasures: (count) => {
    const registers = [registry];
    const oldest = new Gauge({
      name: "perch_erasures_oldest_seconds",
      help: "Age of the oldest erasure of a user that has not completed, of all organisations. 0: there is none.",
      registers,
    });
    new Gauge({
      name: "perch_erasures_open",
      help: "Erasures of users that have not completed, of all organisations.",
      registers,
      async collect() {
        // Without an answer of the database the last values stay: that has alerts of its own.
        const counted = await count().catch(() => undefined);
        if (!counted) return;
        this.set(counted.open);
        oldest.set(counted.oldestSeconds);
      },
    });
  },
});
