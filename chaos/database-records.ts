import { toPublicId } from "../packages/server/src/platform/ids.ts";
import { withClient } from "../scripts/testbed/scratch-database.ts";

export interface RecordedRun {
  readonly requestId: string;
  readonly status: string;
  readonly message: string;
  readonly response: string | null;
}

export interface Recorded {
  readonly runs: readonly RecordedRun[];
  /** The messages of each session in order, as "role: content". */
  readonly sessions: ReadonlyMap<string, readonly string[]>;
}

/** Reads the recorded runs and sessions directly from the database. */
export const readRecorded = (adminUrl: string): Promise<Recorded> =>
  withClient(adminUrl, async (client) => {
    const runs = await client.query<{ id: string; status: string; message: string; response: string | null }>(
      "select id, status, message, response from invocations",
    );
    const messages = await client.query<{ session_id: string; role: string; content: string }>(
      "select session_id, role, content from session_messages order by session_id, turn, position",
    );
    return {
      runs: runs.rows.map(({ id, ...run }) => ({ requestId: toPublicId("request", id), ...run })),
      sessions: new Map(
        [...Map.groupBy(messages.rows, ({ session_id }) => session_id)].map(([id, rows]) => [
          id,
          rows.map(({ role, content }) => `${role}: ${content}`),
        ]),
      ),
    };
  });
