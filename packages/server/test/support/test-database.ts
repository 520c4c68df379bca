import { inject } from "vitest";
import { createScratchDatabase, type ScratchDatabase } from "../../../../scripts/testbed/scratch-database.ts";

export type TestDatabase = ScratchDatabase;

/** A database of its own: a copy of the migrated template, or empty. */
export const createTestDatabase = ({ empty = false } = {}): Promise<TestDatabase> =>
  createScratchDatabase(empty ? undefined : inject("templateUrl"));
