import type { Config } from "../config/config.ts";
import { ingressProbes } from "../engine/engine-health.ts";
import { type DispensableId, healthChecks } from "../platform/health-checks.ts";
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
  const toDependency = (id: DispensableId, urls: readonly string[], ping: () => Promise<unknown>): Dependency => {
    const { forms, effect } = healthChecks[id];
    return { name: forms.readyz, addresses: urls.map(placeOf), effect, ping };
  };
  const pingEngine = () => Promise.any(ingressProbes(config.ingressUrls).map((probe) => probe()));
  const dependencies = [toDependency("engine", config.ingressUrls, pingEngine)];
  if (config.valkeyUrl && pingValkey) dependencies.push(toDependency("valkey", [config.valkeyUrl], pingValkey));
  return createDependencyWatch({ dependencies, logger, now: nowMs });
}
