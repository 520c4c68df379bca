import { Gauge, type Registry } from "prom-client";

export interface SigningMetrics {
  /** Undefined in a process that signs nothing. */
  readonly watchSigningKeys: (ageSeconds: () => number | undefined) => void;
}

export function createSigningMetrics(registry: Registry): SigningMetrics {
  let age: () => number | undefined = () => undefined;
  new Gauge({
    name: "perch_signing_keys_age_seconds",
    help: "Time since this process last read the keys that sign calls. It reads them every 30 s, and signs with the ones that it knows meanwhile.",
    registers: [registry],
    collect() {
      this.set(age() ?? 0);
    },
  });
  return {
    watchSigningKeys: (ageSeconds) => {
      age = ageSeconds;
    },
  };
}
