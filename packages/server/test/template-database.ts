import type { TestProject } from "vitest/node";
import { createScratchDatabase } from "../../../scripts/testbed/scratch-database.ts";
import { migrate } from "../src/db/migrate.ts";

declare module "vitest" {
  interface ProvidedContext {
    templateUrl: string;
  }
}

/** One migrated database for the whole run; every test file works on a copy of it. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const template = await createScratchDatabase();
  await migrate(template.ownerUrl);
  provide("templateUrl", template.ownerUrl);
  return template.drop;
}
