import { createScratchDatabase, type ScratchDatabase } from "@perch/testkit/installation/scratch-database.ts";
import { inject } from "vitest";

export type TestDatabase = ScratchDatabase;

/** A database of its own: a copy of the migrated template, or empty. */
export const createTestDatabase = ({ empty = false } = {}): Promise<TestDatabase> =>
  createScratchDatabase(empty ? undefined : inject("templateUrl"));
