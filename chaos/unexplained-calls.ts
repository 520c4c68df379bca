import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { parsePublicId } from "../packages/server/src/platform/ids.ts";
import type { ModelCall } from "./counting-model.ts";
import type { LeaderMove } from "./engine-leaders.ts";

const seconds = (ms: number): string => (ms / 1000).toFixed(2);
const nearMs = 10_000;

const describeCall = ({ step, atMs, cutOffAtMs }: ModelCall): string =>
  `${step} at ${seconds(atMs)}${cutOffAtMs === undefined ? "" : ` (cut off at ${seconds(cutOffAtMs)})`}`;

/** The evidence about a repeated call of a run: all its calls, the moves of its partition at that time, and its log. */
export async function describeRun(
  requestId: string,
  {
    calls,
    moves,
    partition,
    adminUrl,
  }: {
    readonly calls: readonly ModelCall[];
    readonly moves: readonly LeaderMove[];
    readonly partition: number | undefined;
    readonly adminUrl: string;
  },
): Promise<string> {
  const own = calls.filter((call) => call.requestId === requestId);
  const lastMs = own.at(-1)?.atMs ?? 0;
  const near = moves.filter((move) => move.partition === partition && Math.abs(move.untilMs - lastMs) < nearMs);
  const log = await withClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ ms: number; type: string; failed: string | null; message: string }>(
      `select extract(epoch from at) * 1000 as ms, metadata ->> 'type' as type, metadata ->> 'failed' as failed, message
         from log_entries where invocation_id = $1 order by at, line`,
      [parsePublicId("request", requestId)],
    );
    return rows.map(
      ({ ms, type, failed, message }) =>
        `${type}${failed || type === "interrupted" ? ` (${message})` : ""} ${seconds(ms - performance.timeOrigin)}`,
    );
  });
  return [
    `  ${requestId} in partition ${partition}: steps ${own.map(describeCall).join(", ")}`,
    `  its partition moved: ${near.map(({ fromMs, untilMs }) => `${seconds(fromMs)} to ${seconds(untilMs)}`).join(", ") || "no"}`,
    `  its log: ${log.join(", ")}`,
  ].join("\n");
}
