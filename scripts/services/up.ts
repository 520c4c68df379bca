import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { databaseSql } from "./database-sql.ts";
import { installPackages } from "./debian.ts";
import { writeEnvFile } from "./env-file.ts";
import { portBase, portBaseFile, portVariable, runDir } from "./layout.ts";
import { postgres } from "./postgres.ts";
import { Problem } from "./problem.ts";
import { withProgress } from "./progress.ts";
import type { Service } from "./service.ts";
import { isPortFree } from "./sockets.ts";
import { waitUntil } from "./waiting.ts";

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
  writeEnvFile();
  for (const { name, address } of services) console.log(`${name.padEnd(9)} ${address}`);
  if (postgres.isExternal) console.log(externalDatabaseAdvice());
  console.log("next: pnpm migrate");
}

/** Waits for all before it fails, so that nothing goes on behind an error and every problem is told at once. */
async function forAllServices<T>(services: readonly Service[], work: (service: Service) => Promise<T>): Promise<T[]> {
  const results = await Promise.allSettled(services.map(work));
  const reasons = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  if (reasons.length > 0) throw new AggregateError(reasons);
  return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}

/** Else `.services/env` would lead to the ports of another checkout. */
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
  throw new Problem(`${service.name}: nothing answers at ${service.address}, which the environment gives for it`);
}

function externalDatabaseAdvice(): string {
  return `\nThis PostgreSQL is yours. Unless you have done so, prepare it:\npsql "$PERCH_DATABASE_ADMIN_URL" <<'SQL'\n${databaseSql}SQL\n`;
}
