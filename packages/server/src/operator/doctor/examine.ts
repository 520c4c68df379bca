import { readUsableSettings } from "../../config/config.ts";
import { type HealthCheckId, healthCheckIds } from "../../platform/health-checks.ts";
import type { Check } from "./check.ts";
import { checkDatabase } from "./check-database.ts";
import { checkEngine } from "./check-engine.ts";
import { checkSettings } from "./check-settings.ts";
import { checkSignIn } from "./check-sign-in.ts";
import { checkValkey } from "./check-valkey.ts";

export interface Examination {
  /** All of them are under way, in the order in which they are reported. */
  readonly checks: readonly Check[];
  readonly close: () => Promise<unknown>;
}

/** Begins every check of an installation. None of them changes anything, and each ends within seconds. */
export function examine(environment: NodeJS.ProcessEnv, now: () => number = Date.now): Examination {
  const settings = readUsableSettings(environment);
  const database = checkDatabase(settings, now);
  const checks: Readonly<Record<HealthCheckId, Check>> = {
    settings: checkSettings(environment),
    ...database.checks,
    valkey: checkValkey(settings),
    signIn: checkSignIn(settings),
    ...checkEngine(settings),
  };
  return { checks: healthCheckIds.map((id) => checks[id]), close: database.close };
}
