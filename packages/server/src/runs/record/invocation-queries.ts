import type { InvocationStatus } from "@perch/contract";
import { type Selectable, sql } from "kysely";
import { countUpTo } from "../../db/count-up-to.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { Invocations } from "../../db/generated-rows.ts";
import { ofVisibleUser, type VisibleUsers } from "../../db/of-visible-user.ts";
import type { RunInput, RunOutcome } from "../../engine/messages.ts";
import type { ModelMessage } from "../../outbound/models/model.ts";
import { uuidTime } from "../../platform/ids.ts";
import { ownerForRun } from "../../resources/memory/memory-rules.ts";
import type { Session } from "../run.ts";
import { failureColumns, runningRow } from "./record-rules.ts";

export type InvocationRow = Selectable<Invocations>;

/** Inserts the row of a running run unless it exists, and returns whether cancellation was requested. */
export async function insertRunningInvocation(
  trx: OrganisationTransaction,
  run: RunInput,
): Promise<{ readonly cancelRequested: boolean }> {
  const row = await trx
    .insertInto("invocations")
    .values(runningRow(run))
    .onConflict((conflict) =>
      conflict.columns(["organisation_id", "id", "accepted_at"]).doUpdateSet({ status: sql`invocations.status` }),
    )
    .returning("cancel_requested_at")
    .executeTakeFirstOrThrow();
  return { cancelRequested: row.cancel_requested_at !== null };
}

/** Inserts the rows of running runs, of each unless it exists. */
export async function insertRunningInvocations(trx: OrganisationTransaction, runs: readonly RunInput[]): Promise<void> {
  await trx
    .insertInto("invocations")
    .values(runs.map(runningRow))
    .onConflict((conflict) => conflict.columns(["organisation_id", "id", "accepted_at"]).doNothing())
    .execute();
}

/** Limits a session's history in the journal and in the model's input. */
const maxHistoryBytes = 2 * 1024 * 1024;

/** Whether another run of this user's session waits, or goes on after it waited, that came before this one. */
const hasWaitingBefore = (run: RunInput) => sql<boolean>`exists (
  select from waiting_runs w
    where w.organisation_id = ${run.organisationId} and w.agent_id = ${run.agentId} and w.session_id = ${run.sessionId}
      and coalesce(w.user_id, '') = coalesce(${run.userId}::text, '') and w.user_id is not distinct from ${run.userId}
      and w.id <> ${run.id}
      and w.position < coalesce((select own.position from waiting_runs own
                                   where own.organisation_id = ${run.organisationId} and own.id = ${run.id}), 9223372036854775807))`;

/** A session as a turn finds it. */
export interface FoundSession extends Session {
  /** An earlier turn of it waits for a person. */
  readonly isWaiting: boolean;
}

/** The messages of this user's session before this run, the newest that fit, without those that an earlier attempt of it wrote. */
export async function findSession(trx: OrganisationTransaction, run: RunInput): Promise<FoundSession> {
  const newest = trx
    .selectFrom("session_messages")
    .select(["turn", "accepted_at", "position", "role", "content"])
    .where("organisation_id", "=", run.organisationId)
    .where("agent_id", "=", run.agentId)
    .where("session_id", "=", run.sessionId ?? "")
    .where("owner", "=", ownerForRun(run.userId))
    .where("invocation_id", "!=", run.id)
    .where(sql<boolean>`not is_cleared(organisation_id, agent_id, owner, session_id, accepted_at, sequence)`)
    .orderBy("turn", "desc")
    .orderBy("accepted_at", "desc")
    .orderBy("position", "desc")
    .limit(Math.max(run.definition.limits.max_history_messages, 1));
  const rows = await trx
    .selectFrom(sql<{ is_waiting: boolean }>`(select ${hasWaitingBefore(run)} as is_waiting)`.as("session"))
    .leftJoin(newest.as("newest"), (join) => join.onTrue())
    .select(["is_waiting", "turn", "role"])
    .select(
      // The text stays in the database if it would be too large; the turn is needed in any case.
      sql<
        string | null
      >`case when sum(octet_length(content)) over (order by turn desc, accepted_at desc, position desc) <= ${maxHistoryBytes} then content end`.as(
        "content",
      ),
    )
    .orderBy("turn", "desc")
    .orderBy("accepted_at", "desc")
    .orderBy("position", "desc")
    .execute();
  const history = rows.flatMap(({ role, content }): ModelMessage[] =>
    content === null ? [] : [{ role: role as "user" | "assistant", content }],
  );
  return {
    isWaiting: rows[0]?.is_waiting === true,
    turn: (rows[0]?.turn ?? 0) + 1,
    history: run.definition.limits.max_history_messages === 0 ? [] : history.toReversed(),
  };
}

interface InvocationRef extends VisibleUsers {
  readonly organisationId: string;
  readonly agentId?: string | undefined;
  readonly id: string;
  /** Only if this caller started it. */
  readonly onlyInvoker?: string | undefined;
}

const byRef = ({ organisationId, id }: InvocationRef) => ({
  organisation_id: organisationId,
  id,
  accepted_at: uuidTime(id),
});

export const findInvocation = (trx: OrganisationTransaction, ref: InvocationRef): Promise<InvocationRow | undefined> =>
  trx
    .selectFrom("invocations")
    .selectAll()
    .where((eb) => eb.and(byRef(ref)))
    .$if(ref.agentId !== undefined, (query) => query.where("agent_id", "=", ref.agentId ?? ""))
    .where(ofVisibleUser(ref))
    .$if(ref.onlyInvoker !== undefined, (query) => query.where("invoker", "=", ref.onlyInvoker ?? ""))
    .executeTakeFirst();

/** Requests cancellation of a run that runs or waits. One that has ended is unchanged. */
export const updateCancelRequested = async (trx: OrganisationTransaction, ref: InvocationRef): Promise<void> => {
  await trx
    .updateTable("invocations")
    .set({ cancel_requested_at: sql`coalesce(cancel_requested_at, now())` })
    .where((eb) => eb.and(byRef(ref)))
    .where("status", "in", ["running", "waiting"])
    .execute();
};

/** Ends a running run by its row only, for a run whose record the database does not accept. */
export const updateEnded = async (
  trx: OrganisationTransaction,
  ref: InvocationRef,
  outcome: Exclude<RunOutcome, { readonly status: "completed" }>,
): Promise<void> => {
  const { status, error } = outcome;
  await trx
    .updateTable("invocations")
    .set({ status, error, ...failureColumns(outcome), finished_at: sql`now()` })
    .where((eb) => eb.and(byRef(ref)))
    .where("status", "=", "running")
    .execute();
};

export interface InvocationFilter extends VisibleUsers {
  readonly status?: InvocationStatus | undefined;
  readonly session_id?: string | undefined;
  readonly environment?: string | undefined;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
}

const filtered = (trx: OrganisationTransaction, organisationId: string, agentId: string, filter: InvocationFilter) =>
  trx
    .selectFrom("invocations")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where(ofVisibleUser(filter))
    .$if(filter.status !== undefined, (query) => query.where("status", "=", filter.status ?? ""))
    .$if(filter.session_id !== undefined, (query) => query.where("session_id", "=", filter.session_id ?? ""))
    .$if(filter.environment !== undefined, (query) => query.where("environment", "=", filter.environment ?? ""))
    .$if(filter.start_time !== undefined, (query) => query.where("accepted_at", ">=", new Date(filter.start_time ?? 0)))
    .$if(filter.end_time !== undefined, (query) => query.where("accepted_at", "<", new Date(filter.end_time ?? 0)));

/** Without message and response, which have up to 256 KiB and 16 MiB: a list shows neither. */
export const summaryColumns = [
  "id",
  "agent_id",
  "status",
  "environment",
  "version",
  "deployment_id",
  "user_id",
  "session_id",
  "error",
  "error_code",
  "retryable",
  "steps",
  "tokens_used",
  "duration_ms",
  "accepted_at",
  "finished_at",
] as const satisfies (keyof InvocationRow)[];
export type InvocationSummaryRow = Pick<InvocationRow, (typeof summaryColumns)[number]>;

export const listInvocations = (
  trx: OrganisationTransaction,
  organisationId: string,
  agentId: string,
  filter: InvocationFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<InvocationSummaryRow[]> =>
  filtered(trx, organisationId, agentId, filter)
    .select(summaryColumns)
    .orderBy("accepted_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();

export const countInvocations = (
  trx: OrganisationTransaction,
  organisationId: string,
  agentId: string,
  filter: InvocationFilter,
  max: number,
): Promise<number> => countUpTo(trx, filtered(trx, organisationId, agentId, filter).select("id"), max);
