import type { Kysely } from "kysely";
import { Counter, Gauge, type Registry } from "prom-client";
import type { DB } from "../../db/generated-rows.ts";
import { countConnectionsToRevoke } from "./revocation-queries.ts";

const refreshResults = ["succeeded", "refused", "failed"] as const;
const consentResults = ["confirmed", "denied", "refused"] as const;

export interface ConnectionMetrics {
  readonly connectionRefreshed: (result: (typeof refreshResults)[number]) => void;
  readonly connectionConsented: (result: (typeof consentResults)[number]) => void;
}

export function createConnectionMetrics(registry: Registry): ConnectionMetrics {
  const registers = [registry];
  const labelNames = ["result"];
  const refreshes = new Counter({
    name: "perch_connection_refreshes_total",
    help: "Attempts to get a new access token for a connected account, by result. refused: the provider no longer accepts the user's consent. failed: it gave no answer that can be used, and is asked again.",
    labelNames,
    registers,
  });
  const consents = new Counter({
    name: "perch_connection_consents_total",
    help: "Consents of users that ended, by result. denied: the person said no. refused: the link, the browser, the code or the user was not the right one, or the provider gave no tokens.",
    labelNames,
    registers,
  });
  for (const result of refreshResults) refreshes.inc({ result }, 0);
  for (const result of consentResults) consents.inc({ result }, 0);
  return {
    connectionRefreshed: (result) => refreshes.inc({ result }),
    connectionConsented: (result) => consents.inc({ result }),
  };
}

export function createConnectionGauges(
  registry: Registry,
  { db }: { readonly db: { readonly unscoped: Kysely<DB> } },
): void {
  new Gauge({
    name: "perch_connection_revocations_waiting",
    help: "Revoked connections of all organisations, 10,000 at most, whose provider was not told yet.",
    registers: [registry],
    async collect() {
      // Without an answer of the database the last value stays: that has alerts of its own.
      const waiting = await countConnectionsToRevoke(db.unscoped).catch(() => undefined);
      if (waiting !== undefined) this.set(waiting);
    },
  });
}
