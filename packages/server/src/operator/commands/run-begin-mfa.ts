import { parseArgs } from "node:util";
import { closeCore, composeCore } from "../../compose/core.ts";
import type { Config } from "../../config/config.ts";
import { ApiError } from "../../platform/api-error.ts";
import { parsePublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { insertEntryWithoutCaller } from "../../resources/audit/audit-entry.ts";
import { beginEnrolment } from "../../resources/mfa/begin-enrolment.ts";
import { commandTable } from "./command-table.ts";
import { UsageError } from "./usage.ts";

/** For an organisation none of whose admin keys has a second factor yet. Only the token goes to standard output. */
export async function runBeginMfa(config: Config, logger: Logger, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable["begin-mfa"].options });
  const organisationId = parsePublicId("organisation", values.organisation ?? "");
  const publicId = values.key ?? "";
  if (!organisationId) throw new UsageError("--organisation is an id such as org_01h455vb4pex5vsknk084sn02q.");
  if (!parsePublicId("key", publicId)) throw new UsageError("--key is an id such as key_01h455vb4pex5vsknk084sn02q.");
  const core = composeCore(config, logger);
  try {
    await core.dataKeys.load();
    const deps = { enrolmentKey: core.keys.enrolmentKey, instanceDemandsMfa: true, nowMs: core.nowMs };
    const scope = { organisationId, onlyAgentId: null };
    const begun = await core.db.inOrganisation(organisationId, async (trx) => {
      const token = await beginEnrolment(deps, trx, scope, { publicId, caller: "operator" });
      await insertEntryWithoutCaller(trx, organisationId, {
        actor: "operator",
        operation: "begin-mfa",
        resourceType: "key",
        resource: publicId,
      });
      return token;
    });
    console.error(`A token for ${publicId}, valid until ${begun.expires_at}: POST /v1/mfa with it in X-MFA-Code.`);
    console.log(begun.token);
  } catch (error) {
    throw error instanceof ApiError ? new UsageError(error.message) : error;
  } finally {
    await closeCore(core);
  }
}
