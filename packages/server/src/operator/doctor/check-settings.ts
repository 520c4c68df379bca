import { knownVariables, readConfig } from "../../config/config.ts";
import { ConfigError, seeSettingsPage } from "../../config/config-error.ts";
import { refuseOpenWorker } from "../../config/engine-settings.ts";
import { healthChecks } from "../../platform/health-checks.ts";
import { beginCheck, type Check, failed, ok, type Result, warning } from "./check.ts";

/** One line of a message is one problem; the last one may only name the page that explains them all. */
const linesOf = (error: unknown): string[] => {
  if (!(error instanceof ConfigError)) throw error;
  return error.message.split("\n");
};

const { advice } = healthChecks.settings;

function listProblems(environment: NodeJS.ProcessEnv): Result[] {
  try {
    const config = readConfig(environment);
    try {
      refuseOpenWorker(config);
    } catch (error) {
      return [warning(`\`work\` would not start here: ${linesOf(error).join(" ")}`)];
    }
    return [];
  } catch (error) {
    return linesOf(error)
      .filter((line) => line !== seeSettingsPage)
      .map((line) => failed(`${line} ${advice}`));
  }
}

export function checkSettings(environment: NodeJS.ProcessEnv): Check {
  return beginCheck("settings", async () => {
    const problems = listProblems(environment);
    const set = knownVariables.filter((name) => environment[name]);
    return problems.length > 0
      ? problems
      : ok(`all can be read: ${set.length} are set, the others have their defaults`);
  });
}
