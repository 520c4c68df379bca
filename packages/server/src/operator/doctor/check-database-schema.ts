import type { UsableSettings } from "../../config/config.ts";
import { createDataKeys, masterKeyName } from "../../db/data-keys.ts";
import { type Inspected, listExtensions } from "../../db/inspect-database.ts";
import { currentSchema, findSchemaState, pendingMigrations } from "../../db/migrate.ts";
import { trustedExtensionSql, vectorSql } from "../../db/preparation-sql.ts";
import { refusePending } from "../../db/refuse-unfit-database.ts";
import { findActiveTurn } from "../../db/releases.ts";
import { healthChecks } from "../../platform/health-checks.ts";
import { missingFrom, releaseFeatures } from "../../platform/release-features.ts";
import { version } from "../../platform/version.ts";
import { failed, ok, type Result, skipped, warning } from "./check.ts";

/** Older versions of pgvector lose results when a search is filtered. */
const minVector = [0, 8] as const;

function isOldVector(found: string): boolean {
  const [major = 0, minor = 0] = found.split(".").map(Number);
  return major < minVector[0] || (major === minVector[0] && minor < minVector[1]);
}

export async function judgeExtensions(db: Inspected["db"]): Promise<readonly Result[]> {
  const found = await listExtensions(db);
  const wanted = { vector: vectorSql, btree_gin: trustedExtensionSql };
  const missing = Object.entries(wanted).filter(([name]) => !found.has(name));
  if (missing.length > 0)
    return missing.map(([name, statement]) =>
      failed(`The extension ${name} is missing. ${healthChecks.extensions.advice} ${statement}`),
    );
  const vector = found.get("vector") ?? "";
  if (isOldVector(vector))
    return [
      failed(
        `The extension vector is ${vector}; Perch needs ${minVector.join(".")}. Install a newer pgvector, then run in the database: alter extension vector update;`,
      ),
    ];
  return [
    ok(
      Object.keys(wanted)
        .map((name) => `${name} ${found.get(name)}`)
        .join(", "),
    ),
  ];
}

export async function judgeMigrations(db: Inspected["db"]): Promise<Result> {
  const schema = await currentSchema();
  const { pending, newerRelease } = await findSchemaState(db, schema);
  refusePending(pending);
  return newerRelease === undefined
    ? ok(`all ${schema.migrations.length} of release ${version}`)
    : warning(
        `A newer release${newerRelease === version ? "" : `, ${newerRelease},`} than this one, ${version}, has migrated the database. That works, as after going back; upgrade when you can.`,
      );
}

export async function judgeActiveRelease({ db, facts }: Inspected): Promise<Result> {
  if (!facts.hasTables || (await pendingMigrations(db, await currentSchema())).length > 0)
    return skipped("the database is not migrated: see migrations");
  const active = await findActiveTurn(db);
  if (active === undefined) return warning(`No release takes new runs. ${healthChecks.activeRelease.advice}`);
  const missing = missingFrom(active.features, releaseFeatures);
  return missing.length === 0
    ? ok(active.release)
    : warning(
        `Release ${active.release} takes new runs and does not understand ${missing.join(", ")}: agents that use them get 503. ${healthChecks.activeRelease.advice}`,
      );
}

export async function judgeMasterKey(
  { db, facts }: Inspected,
  { masterKey, previousMasterKeys }: UsableSettings,
): Promise<Result> {
  if (!masterKey || !previousMasterKeys) return skipped("the master keys cannot be read: see settings");
  if (!facts.hasTables) return skipped("the database has no tables yet: see migrations");
  const keys = createDataKeys(db, { current: masterKey, previous: previousMasterKeys }, []);
  const { total, underPrevious } = await keys.verify();
  const name = masterKeyName(masterKey);
  if (total === 0) return ok(`${name}; there are no data keys yet, the first server makes them`);
  return underPrevious === 0
    ? ok(`${name} opens all ${total} data keys`)
    : warning(
        `${underPrevious} of ${total} data keys are under a previous master key. ${healthChecks.masterKey.advice}`,
      );
}
