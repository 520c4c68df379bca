import { parseArgs } from "node:util";
import type { Config } from "../../config/config.ts";
import { createEngineAdmin } from "../../engine/engine-admin.ts";
import { listKnownDeployments, whyKept } from "../../engine/retire-release.ts";
import type { Logger } from "../../platform/logger.ts";
import { OperatorError } from "../../platform/operator-error.ts";
import { commandTable } from "./command-table.ts";
import { UsageError } from "./usage.ts";

/** Makes the engine forget an address of workers, unless a run could still need it. */
export async function runRetire(config: Config, _: Logger, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable.retire.options });
  if (values.id === undefined)
    throw new UsageError("Name the release with --id: `perch-server releases` lists the ids.");
  const admin = createEngineAdmin(config.adminUrls);
  const all = await listKnownDeployments(admin);
  const deployment = all.find(({ id }) => id === values.id);
  if (!deployment)
    throw new OperatorError(`The engine knows no address ${values.id}. \`perch-server releases\` lists them.`);
  const reason = whyKept(deployment, all, Date.now());
  if (reason !== undefined) throw new OperatorError(`${deployment.uri} was not retired. ${reason}`);
  await admin.remove(deployment.id);
  console.log(`Retired ${deployment.uri}. Its workers can be stopped.`);
}
