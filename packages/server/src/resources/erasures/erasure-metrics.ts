import type { Kysely } from "kysely";
import { Gauge, type Registry } from "prom-client";
import type { DB } from "../../db/generated-rows.ts";
import { countAllOpenErasures } from "./erasure-queries.ts";

export function createErasureGauges(
  registry: Registry,
  { db }: { readonly db: { readonly unscoped: Kysely<DB> } },
): void {
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
      const counted = await countAllOpenErasures(db.unscoped).catch(() => undefined);
      if (!counted) return;
      this.set(counted.open);
      oldest.set(counted.oldestSeconds);
    },
  });
}
