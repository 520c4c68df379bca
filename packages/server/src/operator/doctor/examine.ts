import { readUsableSettings } from "../../config/config.ts";
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
  return {
    checks: [
      checkSettings(environment),
      ...database.checks,
      checkValkey(settings),
      checkSignIn(settings),
      ...checkEngine(settings),
    ],
    close: database.close,
  };
}
