import { parseArgs } from "node:util";
import type { InstalledRelease } from "@perch/contract";
import { closeCore, composeCore } from "../../compose/core.ts";
import type { Config } from "../../config/config.ts";
import { listTurns } from "../../db/releases.ts";
import { createEngineAdmin } from "../../engine/engine-admin.ts";
import { listKnownDeployments } from "../../engine/retire-release.ts";
import type { Logger } from "../../platform/logger.ts";
import { toReleases } from "../../resources/installation/release-rules.ts";
import { commandTable } from "./command-table.ts";

/** Scripts read these names and words since the first release of the command. */
const toRow = ({ turn, release, since, runs, state, deployment_id, address }: InstalledRelease) => ({
  ...{ turn, release, since, runs, state: state.replaceAll("_", " "), id: deployment_id, address },
});
type Row = ReturnType<typeof toRow>;

const headings = ["TURN", "RELEASE", "SINCE (UTC)", "RUNS", "STATE", "ID", "ADDRESS"];

function printTable(rows: readonly Row[]): void {
  const lines = [
    headings,
    ...rows.map(({ turn, release, since, runs, state, id, address }) => [
      String(turn ?? "-"),
      release ?? "before 0.2.0",
      since.slice(0, 16).replace("T", " "),
      String(runs),
      state,
      id ?? "-",
      address ?? "-",
    ]),
  ];
  const widths = headings.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  for (const line of lines)
    console.log(
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}

/** Lists the addresses that the engine knows, newest turn first, with the runs that can end only there. */
export async function runReleases(config: Config, logger: Logger, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable.releases.options });
  const core = composeCore(config, logger);
  try {
    const turns = await listTurns(core.db.unscoped);
    const all = await listKnownDeployments(createEngineAdmin(config.adminUrls));
    const listed = toReleases(all, turns, core.nowMs()).map(toRow);
    if (values.json) for (const row of listed) console.log(JSON.stringify(row));
    else printTable(listed);
  } finally {
    await closeCore(core);
  }
}
