import { parseArgs } from "node:util";
import type { Config } from "../../config/config.ts";
import { listTurns, type Turn } from "../../db/releases.ts";
import { createEngineAdmin } from "../../engine/engine-admin.ts";
import { parseAddress } from "../../engine/release-address.ts";
import { type KnownDeployment, listKnownDeployments, takesNewRuns, whyKept } from "../../engine/retire-release.ts";
import type { Logger } from "../../platform/logger.ts";
import { closeCore, composeCore } from "../core.ts";
import { commandTable } from "./command-table.ts";

interface Row {
  readonly turn: number | null;
  readonly release: string | null;
  readonly since: string;
  readonly runs: number;
  readonly state: string;
  readonly id: string | null;
  readonly address: string | null;
}

const stateOf = (deployment: KnownDeployment, all: readonly KnownDeployment[], nowMs: number): string => {
  if (takesNewRuns(deployment)) return "takes new runs";
  if (deployment.runs > 0) return "ends its runs";
  return whyKept(deployment, all, nowMs) === undefined ? "can be retired" : "superseded";
};

function toRow(
  deployment: KnownDeployment,
  all: readonly KnownDeployment[],
  turns: readonly Turn[],
  nowMs: number,
): Row {
  const address = parseAddress(deployment.uri);
  const activatedAt = turns.find(({ turn }) => turn === address?.turn)?.activatedAt ?? deployment.createdAt;
  return {
    turn: address?.turn ?? null,
    release: address?.release ?? null,
    since: activatedAt.toISOString(),
    runs: deployment.runs,
    state: stateOf(deployment, all, nowMs),
    id: deployment.id,
    address: deployment.uri,
  };
}

/** The active release, if none of its workers has registered yet. */
const withoutWorker = (active: Turn | undefined, rows: readonly Row[]): Row[] =>
  active === undefined || rows.some(({ turn }) => turn === active.turn)
    ? []
    : [
        {
          turn: active.turn,
          release: active.release,
          since: active.activatedAt.toISOString(),
          runs: 0,
          state: "has no worker yet",
          id: null,
          address: null,
        },
      ];

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
    const rows = all
      .map((each) => toRow(each, all, turns, core.nowMs()))
      .sort((a, b) => (b.turn ?? 0) - (a.turn ?? 0) || b.since.localeCompare(a.since));
    const listed = [...withoutWorker(turns[0], rows), ...rows];
    if (values.json) for (const row of listed) console.log(JSON.stringify(row));
    else printTable(listed);
  } finally {
    await closeCore(core);
  }
}
