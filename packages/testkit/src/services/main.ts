import { rmSync } from "node:fs";
import { interruption, Problem, stopOnSignals } from "./commands.ts";
import { assertAddresses, assertPortBase } from "./layout.ts";
import { postgres } from "./postgres.ts";
import { type Service, withLock } from "./processes.ts";
import { restate } from "./restate.ts";
import { assertSamePorts, up } from "./up.ts";
import { valkey } from "./valkey.ts";

const services: readonly Service[] = [postgres, valkey, restate];

const usage = `usage: pnpm services up|down|status|reset
  up      install and start PostgreSQL, Valkey and Restate on loopback, write .services/env,
          download the weights of perch/minilm to .models/minilm (24 MB) if they are missing
  down    stop what up started
  status  one line per service; exit code 1 unless all run
  reset   down, delete all data (not what is installed), up`;

async function down(): Promise<void> {
  const stopOne = async (service: Service) => {
    const idle = service.isExternal ? "external, left alone" : "was not running";
    const outcome = (await service.stop()) ? "stopped" : idle;
    console.log(`${service.name.padEnd(9)} ${outcome}`);
  };
  await Promise.all(services.map(stopOne));
}

async function reset(): Promise<void> {
  await down();
  for (const { dataDir } of services) rmSync(dataDir, { recursive: true, force: true });
  await up(services);
}

async function status(): Promise<void> {
  assertSamePorts(services);
  const lines = services.map(async (service) => {
    const pid = service.isExternal ? undefined : service.pid();
    const runs = (service.isExternal || pid !== undefined) && (await service.answers());
    if (!runs) process.exitCode = 1;
    const version = service.isExternal ? "external" : await service.version();
    const columns = [service.name.padEnd(9), runs ? "running" : "stopped", version.padEnd(8), service.address];
    return [...columns, ...(pid === undefined ? [] : [`pid ${pid}`])].join("  ");
  });
  for (const line of await Promise.all(lines)) console.log(line);
}

const commands: Readonly<Record<string, () => Promise<void>>> = {
  up: () => withLock(() => up(services)),
  down: () => withLock(down),
  reset: () => withLock(reset),
  status,
};

function report(error: unknown): void {
  if (interruption.signal.aborted) console.error("interrupted");
  else if (error instanceof AggregateError) error.errors.forEach(report);
  else console.error(error instanceof Problem ? error.message : error);
}

const [name = "", ...rest] = process.argv.slice(2);
const command = Object.hasOwn(commands, name) && rest.length === 0 ? commands[name] : undefined;
if (command === undefined) {
  console.error(usage);
  process.exitCode = 2;
} else {
  stopOnSignals();
  try {
    assertPortBase();
    assertAddresses();
    await command();
  } catch (error) {
    report(error);
    process.exitCode = interruption.signal.aborted ? 130 : 1;
  }
}
