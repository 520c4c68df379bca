import { parseArgs } from "node:util";
import { Role, roles } from "@perch/contract";
import { closeCore, composeCore } from "../../compose/core.ts";
import type { Config } from "../../config/config.ts";
import { parsePublicId, toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { OperatorError } from "../../platform/operator-error.ts";
import { insertEntryWithoutCaller } from "../../resources/audit/audit-entry.ts";
import { issueKey } from "../../resources/keys/issue-key.ts";
import { commandTable } from "./command-table.ts";
import { UsageError } from "./usage.ts";

/** For an organisation that has lost its last key, and for operators: nothing else gives `operate` first. Only the new key goes to standard output. */
export async function runCreateKey(config: Config, logger: Logger, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable["create-key"].options });
  const organisationId = parsePublicId("organisation", values.organisation ?? "");
  // To see the installation a viewer's key is enough; an organisation that lost its keys needs an admin's.
  const role = Role.safeParse(values.role ?? (values.operate ? "viewer" : "admin"));
  if (!organisationId) throw new UsageError("--organisation is an id such as org_01h455vb4pex5vsknk084sn02q.");
  if (!role.success) throw new UsageError(`--role is one of ${Object.keys(roles).join(", ")}.`);
  const extra = (["approve", "operate"] as const).filter((permission) => values[permission]);
  const core = composeCore(config, logger);
  try {
    await core.dataKeys.load();
    const { token } = await core.db.inOrganisation(organisationId, async (trx) => {
      const organisation = await trx.selectFrom("organisations").select("id").executeTakeFirst();
      if (!organisation) throw new OperatorError(`There is no organisation ${values.organisation}.`);
      const issued = await issueKey(
        trx,
        core.keys.keyDigest,
        { organisationId },
        {
          agentId: null,
          name: values.name,
          // A key with more permissions than a role has no role, as with keys created through the API.
          role: extra.length > 0 ? null : role.data,
          permissions: [...roles[role.data], ...extra],
          createdBy: null,
          creators: [],
          expiresAt: null,
        },
      );
      await insertEntryWithoutCaller(trx, organisationId, {
        actor: "operator",
        operation: "create-key",
        resourceType: "key",
        resource: toPublicId("key", issued.row.id),
        details: { reason: issued.row.permissions.join(", ") },
      });
      return issued;
    });
    console.error(`A key for ${values.organisation} (${[role.data, ...extra].join(", ")}), shown only now:`);
    console.log(token);
  } finally {
    await closeCore(core);
  }
}
