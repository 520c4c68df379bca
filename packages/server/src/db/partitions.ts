import { type Kysely, sql } from "kysely";
import type { Logger } from "../platform/logger.ts";
import type { DB } from "./generated-rows.ts";

export const maintainPartitions = async (db: Kysely<DB>): Promise<void> => {
  await sql`select maintain_partitions()`.execute(db);
};

/** Partitions are made a week ahead, so a day without any server running does no harm. Any number of servers may do it. */
export function maintainPartitionsHourly(db: Kysely<DB>, logger: Logger): { readonly stop: () => void } {
  const run = () =>
    maintainPartitions(db).catch((error: unknown) =>
      logger.warn({ err: error }, "partitions were not maintained; will try again within the hour"),
    );
  void run();
  const timer = setInterval(() => void run(), 3_600_000).unref();
  return { stop: () => clearInterval(timer) };
}
