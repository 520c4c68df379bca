import type { Tables } from "./tables.ts";

/** Tables of the installation. None has rows of organisations. */
export const ownTables = {
  data_keys: { bound: "fixed" },
  signing_keys: { bound: "handled" },
  // Turns of releases that have ended.
  releases: { bound: "purge", purge: { function: "purge_releases", keptDays: [90], keptRows: 100 } },
  kysely_migration: { bound: "fixed" },
  kysely_migration_lock: { bound: "fixed" },
  partitioned_tables: { bound: "fixed" },
  schema_functions: { bound: "fixed" },
  schema_release: { bound: "fixed" },
} as const satisfies Tables;
