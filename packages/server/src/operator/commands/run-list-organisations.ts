import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import type { Config } from "../../config/config.ts";
import { requireOwnerUrl } from "../../config/database-settings.ts";
import { openAsOwner } from "../../db/open-as-owner.ts";
import type { Logger } from "../../platform/logger.ts";
import { type ListedOrganisation, listOrganisations } from "../../resources/organisations/list-organisations.ts";
import { commandTable } from "./command-table.ts";
import { printable } from "./printable.ts";

const line = (
  id: string,
  created: string,
  tier: string,
  agents: string | number,
  keys: string | number,
  name: string,
) =>
  `${id.padEnd(30)}  ${created.padEnd(10)}  ${tier.padEnd(10)}  ${String(agents).padStart(6)}  ${String(keys).padStart(4)}  ${name}\n`;

const toLine = ({ id, created_at, tier, agents, keys, name }: ListedOrganisation): string =>
  line(id, created_at.slice(0, 10), tier, agents, keys, printable(name));

async function* toText(organisations: AsyncIterable<ListedOrganisation>, isJson: boolean): AsyncGenerator<string> {
  // With the first line and not before it, so that a failure to connect is all that is printed.
  let heading = isJson ? "" : line("ID", "CREATED", "TIER", "AGENTS", "KEYS", "NAME");
  for await (const each of organisations) {
    yield heading + (isJson ? `${JSON.stringify(each)}\n` : toLine(each));
    heading = "";
  }
  if (heading !== "") yield heading;
}

/** Prints while it reads, and no faster than its reader. */
export async function runListOrganisations(config: Config, _: Logger, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable["list-organisations"].options });
  const db = openAsOwner(requireOwnerUrl(config));
  try {
    await pipeline(Readable.from(toText(listOrganisations(db), values.json)), process.stdout, { end: false });
  } catch (error) {
    // The reader has seen enough, as `head` does.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
  } finally {
    await db.destroy();
  }
}
