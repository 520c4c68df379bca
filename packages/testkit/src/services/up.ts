import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readEmbedderDir } from "../../../server/src/config/model-settings.ts";
import { WeightsError } from "../../../server/src/outbound/models/download-weights.ts";
import { installWeights } from "../../../server/src/outbound/models/embedder-weights.ts";
import { interruption, Problem, waitUntil, withProgress } from "./commands.ts";
import { installPackages } from "./debian.ts";
import { portBase, portBaseFile, portVariable, runDir, writeEnvFile } from "./layout.ts";
import { postgres, prepareExternalDatabase } from "./postgres.ts";
import { isPortFree, type Service } from "./processes.ts";

export async function up(services: readonly Service[]): Promise<void> {
  assertSamePorts(services);
  const local = services.filter((service) => !service.isExternal);
  const stopped = local.filter((service) => service.pid() === undefined);
  const packages = await forAllServices(stopped, async (service) => service.missingPackages());
  await forAllServices(stopped, assertPortsFree);
  mkdirSync(runDir, { recursive: true });
  writeFileSync(portBaseFile, `${portBase}\n`);
  await installPackages(packages.flat());
  await forAllServices(services, (service) => (service.isExternal ? checkExternal(service) : ensureRunning(service)));
  const { PERCH_DATABASE_URL, PERCH_MIGRATION_DATABASE_URL } = process.env;
  // With the developer's own logins, the database is already prepared.
  if (postgres.isExternal && !PERCH_DATABASE_URL && !PERCH_MIGRATION_DATABASE_URL) await prepareExternalDatabase();
  writeEnvFile();
  const weightsDir = readEmbedderDir({});
  await installEmbedder(weightsDir);
  for (const { name, address } of services) console.log(`${name.padEnd(9)} ${address}`);
  console.log(`embedder  ${weightsDir}`);
  console.log("next: pnpm migrate");
}

async function installEmbedder(folder: string): Promise<void> {
  const onProgress = (line: string) => console.log(`embedder: ${line}`);
  try {
    await installWeights(folder, { signal: interruption.signal, onProgress });
  } catch (error) {
    throw error instanceof WeightsError ? new Problem(error.message, { cause: error }) : error;
  }
}

/** Waits for all services before it fails, so that nothing runs on after an error and every problem is reported at once. */
async function forAllServices<T>(services: readonly Service[], work: (service: Service) => Promise<T>): Promise<T[]> {
  const results = await Promise.allSettled(services.map(work));
  const reasons = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  if (reasons.length > 0) throw new AggregateError(reasons);
  return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}

/** Otherwise `.services/env` would name ports on which no service of this checkout listens. */
export function assertSamePorts(services: readonly Service[]): void {
  const runningBase = existsSync(portBaseFile) ? Number(readFileSync(portBaseFile, "utf8")) : portBase;
  if (runningBase === portBase || services.every((service) => service.pid() === undefined)) return;
  throw new Problem(
    `this checkout's services run with ${portVariable}=${runningBase}, not ${portBase}: ` +
      "set it to that, or run `pnpm services down` first",
  );
}

async function assertPortsFree({ name, ports }: Service): Promise<void> {
  for (const port of ports) {
    if (await isPortFree(port)) continue;
    throw new Problem(
      `${name}: port ${port} is taken by a process that is not ours. Stop it, or set ${portVariable} ` +
        `(now ${portBase}) to move all ports of this checkout, for example ${portVariable}=${portBase + 100}`,
    );
  }
}

async function ensureRunning(service: Service): Promise<void> {
  if (service.pid() === undefined) await withProgress(`${service.name}: starting`, () => service.start());
  else if (!(await waitUntil(service.answers, 30))) {
    throw new Problem(
      `${service.name} runs (pid ${service.pid()}) but does not answer: try \`pnpm services down\`, then up`,
    );
  }
  await service.prepare();
}

async function checkExternal(service: Service): Promise<void> {
  if (await waitUntil(service.answers, 5)) return;
  throw new Problem(
    `${service.name}: nothing answers at ${service.address}, the address that the environment gives for it`,
  );
}
