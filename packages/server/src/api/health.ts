import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import type { Database } from "../db/database.ts";
import { pendingMigrations, type Schema } from "../db/migrate.ts";
import { ApiError } from "../platform/api-error.ts";
import { describePending, migrateCommand, type RequiredName } from "../platform/health-checks.ts";
import type { Logger } from "../platform/logger.ts";
import { NoAnswer, withinLimit } from "../platform/within-limit.ts";
import { single } from "../resources/envelopes.ts";

/** Load balancers probe these over plain HTTP, without a certificate, by address. */
export const probes: readonly string[] = ["/healthz", "/readyz"];

export type Check = () => Promise<void>;

/** Its message is public: `/readyz` needs no key. */
class NotReady extends Error {}

const isPublic = (error: unknown): error is Error => error instanceof NotReady || error instanceof NoAnswer;

const limitMs = 2000;

export const databaseCheck =
  (db: Database, schema: Schema): Check =>
  async () => {
    await sql`select 1`.execute(db.unscoped);
    const pending = await pendingMigrations(db.unscoped, schema);
    if (pending.length > 0) throw new NotReady(`${describePending(pending)}; run ${migrateCommand}`);
  };

export interface Readiness {
  /** Without these the process must not receive traffic. */
  readonly checks: Readonly<Record<RequiredName, Check>>;
  /** Names of parts without which it still may: each is a warning. */
  readonly listSilent: () => Promise<readonly string[]>;
}

const doesNotAnswer = "Does not answer; the log says why";

/**
 * `/healthz`: the process is alive. `/readyz`: its required dependencies respond, so it may receive traffic. Other
 * parts that do not respond are warnings, because a balancer that removed every node would make things worse.
 */
export function healthRoutes(app: FastifyInstance, { checks, listSilent }: Readiness, logger: Logger): void {
  app.get("/healthz", async () => single({ status: "alive" }));
  app.get("/readyz", async () => {
    const silent = listSilent();
    const results = await Promise.all(
      Object.entries(checks).map(async ([field, check]) => {
        try {
          await withinLimit(limitMs, check);
          return [];
        } catch (error) {
          logger.warn({ check: field, err: error }, "not ready");
          return [{ field, error: isPublic(error) ? error.message : doesNotAnswer }];
        }
      }),
    );
    const details = results.flat();
    if (details.length > 0)
      throw new ApiError("unavailable", "Not ready: see details.", { details, retryAfterSeconds: 5 });
    const warnings = (await silent).map((field) => ({ field, error: doesNotAnswer }));
    return single({ status: "ready", checks: Object.keys(checks), warnings });
  });
}
