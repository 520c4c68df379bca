import type { Kysely } from "kysely";
import type { DB } from "../../db/generated-rows.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Logger } from "../../platform/logger.ts";
import { deleteOldErasures, listIdleErasures } from "./erasure-queries.ts";

export interface ResumeDeps {
  readonly db: { readonly unscoped: Kysely<DB> };
  readonly engine: Pick<Engine, "eraseUser">;
  readonly logger: Logger;
}

/** Hands idle erasures to the engine again, and deletes those that are past their retention. */
export async function resumeErasures({ db, engine, logger }: ResumeDeps): Promise<void> {
  const idle = await listIdleErasures(db.unscoped);
  for (const erasure of idle) await engine.eraseUser(erasure, "again");
  if (idle.length > 0) logger.warn({ erasures: idle.length }, "erasures stood still, handed to the engine again");
  await deleteOldErasures(db.unscoped);
}
