import { readConfig } from "../../../server/src/config/config.ts";
import { runCreateOrganisation } from "../../../server/src/operator/commands/run-create-organisation.ts";
import { createLogger } from "../../../server/src/platform/logger.ts";

/**
 * `perch-server create-organisation` for several organisations in one process, because most of its time goes into its start.
 * Arguments are name and tier of each. Prints the keys, one on a line.
 */
const config = readConfig(process.env);
const logger = createLogger(config.logLevel);
const [, , ...organisations] = process.argv;
for (let index = 0; index < organisations.length; index += 2) {
  const [name = "", tier = ""] = organisations.slice(index, index + 2);
  await runCreateOrganisation(config, logger, ["--name", name, "--tier", tier]);
}
