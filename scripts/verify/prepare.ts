import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { bundleServer } from "@perch/testkit/packaging/bundle-server.ts";
import { checkoutDir, envFile } from "@perch/testkit/services/layout.ts";
import { whyNoContainers } from "../../deploy/image/containers.ts";
import { environment, run } from "./run-check.ts";
import type { Need } from "./stages.ts";

/** Thrown if a stage cannot run on this machine, which is not a failure. CI can run all of them. */
export class NotHere extends Error {}

async function runOrThrow(title: string, ...args: string[]): Promise<void> {
  const { succeeded } = await run(title, process.execPath, ["--no-warnings", ...args]);
  if (!succeeded) throw new Error(`${title} failed`);
}

/** Settings that podman needs on machines with few rights, unless this one has its own. */
function setContainerSettings(): void {
  if (environment.CONTAINERS_CONF || existsSync("/etc/containers/containers.conf")) return;
  environment.CONTAINERS_CONF = join(checkoutDir, "deploy/compose/containers.conf");
  process.env.CONTAINERS_CONF = environment.CONTAINERS_CONF;
}

const preparations: Readonly<Record<Need, () => Promise<void>>> = {
  // Tests use the current build, never the remains of an earlier checkout.
  console: () => runOrThrow("console", "packages/testkit/src/packaging/build-console.ts"),
  services: () => runOrThrow("pnpm services up", "packages/testkit/src/services/main.ts", "up"),
  bundle: async () => {
    environment.TEST_SERVER_MAIN = await bundleServer();
  },
  containers: async () => {
    setContainerSettings();
    const obstacle = await whyNoContainers();
    if (obstacle !== undefined) throw new NotHere(obstacle);
  },
  parts: () => runOrThrow("images of the other parts", "deploy/image/parts.ts"),
  // The suites run PostgreSQL from the folder that `pnpm services up` installs, which needs root on Debian.
  root: async () => {
    if (process.getuid?.() !== 0) throw new NotHere("it needs root on Debian");
  },
};

/** Prepares the requirements of stages, each once, in the order of the requests. */
export function createPreparation(without: readonly Need[] = []): (needs: readonly Need[]) => Promise<void> {
  const prepared = new Map<Need, Promise<void>>();
  return async (needs) => {
    for (const need of needs) {
      if (without.includes(need)) continue;
      const preparation = prepared.get(need) ?? preparations[need]();
      prepared.set(need, preparation);
      await preparation;
    }
  };
}

export const serviceSettings = (): NodeJS.Dict<string> => parseEnv(readFileSync(envFile, "utf8"));
