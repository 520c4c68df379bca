import { createScratchDatabase, serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { acceptsConnections } from "@perch/testkit/installation/server-process.ts";
import { buildConsoleIfMissing } from "@perch/testkit/packaging/build-console.ts";
import type { TestProject } from "vitest/node";
import { readEmbedderDir } from "../../src/config/model-settings.ts";
import { migrate } from "../../src/db/migrate.ts";
import { hasWeights } from "../../src/outbound/models/embedder-weights.ts";

declare module "vitest" {
  interface ProvidedContext {
    templateUrl: string;
  }
}

const services = [
  { name: "PostgreSQL", variable: "PERCH_DATABASE_ADMIN_URL", defaultPort: 5432 },
  { name: "Valkey", variable: "PERCH_VALKEY_URL", defaultPort: 6379 },
  { name: "Restate", variable: "PERCH_RESTATE_INGRESS_URL", defaultPort: 80 },
];

/** Fails before the first test, with the command to run, rather than in every test with a refused connection. */
async function assertServicesAreUp(): Promise<void> {
  for (const { name, variable, defaultPort } of services) {
    const { hostname, port } = new URL(serviceUrl(variable));
    const isUp = await acceptsConnections(Number(port || defaultPort), hostname.replace(/^\[|\]$/g, ""));
    if (!isUp)
      throw new Error(`${name} does not answer at ${hostname}:${port || defaultPort}. Start it: pnpm services up`);
  }
  const weightsDir = readEmbedderDir({});
  if (!hasWeights(weightsDir))
    throw new Error(`The weights of perch/minilm are not in ${weightsDir}. Download them: pnpm services up`);
}

/** One migrated database for the whole run; every test file works on a copy of it. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  await assertServicesAreUp();
  buildConsoleIfMissing();
  const template = await createScratchDatabase();
  await migrate(template.ownerUrl);
  provide("templateUrl", template.ownerUrl);
  return template.drop;
}
