import type { Config } from "../../config/config.ts";
import type { Logger } from "../../platform/logger.ts";

/** Both roles. With two processes, this one loads only what starts them, which saves 100 MB. */
export async function all(config: Config, logger: Logger): Promise<void> {
  if (config.processes === 2) return (await import("../supervisor.ts")).superviseRoles(config, logger);
  return (await import("./run-roles.ts")).allInOne(config, logger);
}
