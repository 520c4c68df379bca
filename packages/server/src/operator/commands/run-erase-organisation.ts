import { parseArgs } from "node:util";
import { createOrganisationChanges } from "../../cache/organisation-changes.ts";
import { type Core, closeCore, composeCore } from "../../compose/core.ts";
import type { Config } from "../../config/config.ts";
import { requireOwnerUrl } from "../../config/database-settings.ts";
import { openAsOwner } from "../../db/open-as-owner.ts";
import { createEngineRuns } from "../../engine/engine-runs.ts";
import { deleteValkeyKeys } from "../../limits/delete-valkey-keys.ts";
import { parsePublicId, toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { OperatorError } from "../../platform/operator-error.ts";
import {
  countOrganisation,
  eraseOrganisation,
  findOrganisationName,
  type OrganisationReceipt,
} from "../../resources/organisations/erase-organisation.ts";
import { updateErasingSince } from "../../resources/organisations/organisation-queries.ts";
import { commandTable } from "./command-table.ts";
import { printable } from "./printable.ts";
import { UsageError } from "./usage.ts";

/** Copies that no deletion reaches, in words for the reader of the receipt. */
const expires = [
  "Deleted rows on PostgreSQL's disk go with its next vacuum.",
  "Write-ahead logs and backups hold the organisation until they expire. Data keys belong to the installation and not to an organisation, so what a backup holds encrypted can be read with that backup and the master key.",
  "Deleted entries on the engine's disk go with its next compaction and the trim of its log.",
  "Providers of connected accounts are not told. The consents of users stay valid there until the users end them.",
  "What model providers, tools, remote agents, webhook receivers and trace collectors got is theirs to delete.",
];

function describe(id: string, { rows, engine, valkey }: OrganisationReceipt): string {
  const lines = Object.entries(rows).map(([table, count]) => `  ${table.padEnd(24)} ${count}`);
  const others = [`  ${"engine".padEnd(24)} ${engine}`, `  ${"Valkey".padEnd(24)} ${valkey}`];
  return [`${id} is erased. Removed:`, ...lines, ...others, ...expires].join("\n");
}

/** The connection as the owner of the tables. */
type Owner = ReturnType<typeof openAsOwner>;

const noOrganisation = (id: string) =>
  new OperatorError(`There is no organisation ${id}. \`perch-server list-organisations\` shows the ids.`);

/** From its commit on, every node refuses the organisation's keys. */
async function stopKeys(
  { db, shared: { gate } }: Core,
  logger: Logger,
  organisationId: string,
  id: string,
): Promise<void> {
  const changes = createOrganisationChanges({ db, replaceEpoch: gate.replaceEpoch, logger });
  try {
    await changes.commit(organisationId, async (trx) => {
      if (!(await updateErasingSince(trx, organisationId))) throw noOrganisation(id);
    });
  } finally {
    await changes.repair();
  }
}

async function showRows(owner: Owner, organisationId: string, id: string, isJson: boolean): Promise<void> {
  const name = await findOrganisationName(owner, organisationId);
  if (name === undefined) throw noOrganisation(id);
  if (!isJson) console.error(`Counting the rows of ${id}, ${printable(name)}.`);
  const rows = await countOrganisation(owner, organisationId);
  if (isJson) return console.log(JSON.stringify({ organisation: id, name, erased: false, rows }));
  const lines = Object.entries(rows).map(([table, count]) => `  ${table.padEnd(24)} ${count}`);
  console.log([`${id}, ${printable(name)}, has these rows:`, ...lines].join("\n"));
  console.error("Nothing was changed. To erase it for good, run this again with --yes.");
}

/** The longest run takes 15 minutes. */
const maxWaitMs = 20 * 60_000;

async function erase(config: Config, logger: Logger, owner: Owner, organisationId: string) {
  const id = toPublicId("organisation", organisationId);
  const core = composeCore(config, logger);
  try {
    console.error(`Stopping the keys of ${id}.`);
    await core.shared.gate.ready();
    await stopKeys(core, logger, organisationId, id);
    return await eraseOrganisation(
      {
        owner,
        engineRuns: createEngineRuns(config.adminUrls),
        slots: core.shared.slots,
        streams: core.shared.streams,
        deleteSharedKeys: (erased) => deleteValkeyKeys(config.valkeyUrl, erased),
        report: (text) => console.error(text),
        maxWaitMs,
      },
      organisationId,
    );
  } finally {
    await closeCore(core);
  }
}

/** The receipt goes to standard output, progress to standard error. */
export async function runEraseOrganisation(config: Config, logger: Logger, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable["erase-organisation"].options });
  const organisationId = parsePublicId("organisation", values.organisation ?? "");
  if (!organisationId) throw new UsageError("--organisation is an id such as org_01h455vb4pex5vsknk084sn02q.");
  const id = toPublicId("organisation", organisationId);
  const owner = openAsOwner(requireOwnerUrl(config));
  try {
    if (!values.yes) return await showRows(owner, organisationId, id, values.json);
    const receipt = await erase(config, logger, owner, organisationId);
    logger.info({ organisationId: id, ...receipt }, "organisation erased");
    console.log(
      values.json ? JSON.stringify({ organisation: id, erased: true, ...receipt, expires }) : describe(id, receipt),
    );
  } finally {
    await owner.destroy();
  }
}
