import { lastUuidAt } from "../platform/ids.ts";
import { createCallAdmin } from "./engine-admin.ts";
import { agentRuns, agentSessions } from "./services.ts";
import { isSessionOfUser, userDigest } from "./tasks.ts";

/** A run that the engine has not ended. */
export interface OpenRun {
  readonly id: string;
  /** The key of the session in which the run is a turn. */
  readonly sessionKey: string | null;
}

/** The engine's data about runs, by its admin port. */
export interface EngineRuns {
  /** Open runs of all organisations that were accepted until then: their ids contain that time. */
  readonly listOpen: (until: Date) => Promise<OpenRun[]>;
  /** Which of these parts of runs have not ended. */
  readonly listOpenParts: (parts: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Deletes the results of ended runs, which it would keep for an hour. Returns how many there were. */
  readonly purge: (runIds: readonly string[]) => Promise<number>;
  /** The same for every ended call that names the organisation, as its key or as its sender. */
  readonly purgeNaming: (organisationId: string) => Promise<number>;
  /**
   * The same for messages that turns of the user's sessions sent to other services: the engine names the session as
   * their sender.
   */
  readonly purgeSent: (
    organisationId: string,
    userId: string,
  ) => Promise<{ readonly purged: number; readonly open: number }>;
}

/** A query reads all invocations of the engine. */
const limitMs = 30_000;
const runServices = `target_service_name in ('${agentRuns}', '${agentSessions}')`;
/** A continuation has the number of its suspension after the run's id. */
const runOfKey = "split_part(idempotency_key, '.', 1)";
const maxInQuery = 200;
const purgedTogether = 8;

const uuid = /^[0-9a-f-]{36}$/;
const runPart = /^[0-9a-f-]{36}(?:\.\d+)?$/;

export function createEngineRuns(adminUrls: readonly string[]): EngineRuns {
  const call = createCallAdmin(adminUrls, limitMs);
  const query = async <T>(text: string): Promise<readonly T[]> =>
    ((await call("POST", "/query", { query: text })) as { readonly rows: readonly T[] }).rows;

  /** Restate answers 404 for one that expired in between. */
  const purgeOne = async (invocationId: string): Promise<void> => {
    await call("PATCH", `/invocations/${encodeURIComponent(invocationId)}/purge`).catch(async (error: unknown) => {
      const [left] = await query(`select id from sys_invocation where id = '${invocationId}'`);
      if (left) throw error;
    });
  };

  const purgeAll = async (found: readonly { readonly id: string }[]): Promise<number> => {
    for (let at = 0; at < found.length; at += purgedTogether)
      await Promise.all(found.slice(at, at + purgedTogether).map(({ id }) => purgeOne(id)));
    return found.length;
  };

  const purgeSome = async (runIds: readonly string[]): Promise<number> => {
    const list = runIds.map((id) => `'${id}'`).join(", ");
    return purgeAll(
      await query<{ id: string }>(
        `select id from sys_invocation where ${runServices} and status = 'completed' and ${runOfKey} in (${list})`,
      ),
    );
  };

  /** The digest has the letters of base64url, and is not a pattern here. */
  const listSent = async (organisationId: string, userId: string) => {
    const sender = `${agentSessions}/`;
    const rows = await query<{ id: string; status: string; sender: string }>(
      `select id, status, invoked_by_target as sender from sys_invocation
         where starts_with(invoked_by_target, '${sender}user/${organisationId}/')
           and strpos(invoked_by_target, '/${userDigest(userId)}/') > 0`,
    );
    return rows.filter((row) => isSessionOfUser(row.sender.slice(sender.length), organisationId, userId));
  };

  return {
    listOpen: async (until) => {
      const rows = await query<{ run: string; key: string | null }>(
        `select ${runOfKey} as run, target_service_key as key from sys_invocation
           where ${runServices} and status <> 'completed' and ${runOfKey} <= '${lastUuidAt(until)}'`,
      );
      return rows.map(({ run, key }) => ({ id: run, sessionKey: key ?? null }));
    },
    listOpenParts: async (parts) => {
      if (!parts.every((part) => runPart.test(part)))
        throw new Error("a part of a run is a UUID, or one with a number");
      const open = new Set<string>();
      for (let at = 0; at < parts.length; at += maxInQuery) {
        const list = parts.slice(at, at + maxInQuery).map((part) => `'${part}'`);
        const rows = await query<{ part: string }>(
          `select idempotency_key as part from sys_invocation
             where ${runServices} and status <> 'completed' and idempotency_key in (${list.join(", ")})`,
        );
        for (const { part } of rows) open.add(part);
      }
      return open;
    },
    purge: async (runIds) => {
      if (!runIds.every((id) => uuid.test(id))) throw new Error("the id of a run is a UUID");
      let purged = 0;
      for (let at = 0; at < runIds.length; at += maxInQuery)
        purged += await purgeSome(runIds.slice(at, at + maxInQuery));
      return purged;
    },
    purgeNaming: async (organisationId) => {
      if (!uuid.test(organisationId)) throw new Error("the id of an organisation is a UUID");
      const named = (column: string) => `strpos(${column}, '${organisationId}') > 0`;
      return purgeAll(
        await query<{ id: string }>(
          `select id from sys_invocation
             where status = 'completed' and (${named("target")} or ${named("invoked_by_target")})`,
        ),
      );
    },
    purgeSent: async (organisationId, userId) => {
      const sent = await listSent(organisationId, userId);
      const ended = sent.filter(({ status }) => status === "completed");
      return { purged: await purgeAll(ended), open: sent.length - ended.length };
    },
  };
}
