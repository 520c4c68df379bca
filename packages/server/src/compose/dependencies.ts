import type { Config } from "../config/config.ts";
import { ingressProbes } from "../engine/engine-health.ts";
import type { Logger } from "../platform/logger.ts";
import { createDependencyWatch, type Dependency, type DependencyWatch } from "./dependency-watch.ts";
import { placeOf } from "./own-endpoints.ts";

interface Connections {
  readonly config: Config;
  readonly logger: Logger;
  readonly nowMs: () => number;
  /** Undefined: this process does without Valkey. */
  readonly pingValkey: (() => Promise<unknown>) | undefined;
}

/** The engine, of which one node is enough, and Valkey. Neither keeps a process from starting. */
export function composeDependencies({ config, logger, nowMs, pingValkey }: Connections): DependencyWatch {
  const engine: Dependency = {
    name: "engine",
    addresses: config.ingressUrls.map(placeOf),
    effect: "agents cannot be invoked or deployed",
    ping: () => Promise.any(ingressProbes(config.ingressUrls).map((probe) => probe())),
  };
  const valkey = (url: string, ping: () => Promise<unknown>): Dependency => ({
    name: "valkey",
    addresses: [placeOf(url)],
    effect: "limits are per process, and no tokens are streamed",
    ping,
  });
  return createDependencyWatch({
    dependencies: [engine, ...(config.valkeyUrl && pingValkey ? [valkey(config.valkeyUrl, pingValkey)] : [])],
    logger,
    now: nowMs,
  });
}
