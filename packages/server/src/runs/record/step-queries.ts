import { type Selectable, sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { LogEntries } from "../../db/generated-rows.ts";
import { ofVisibleUser, type VisibleUsers } from "../../db/of-visible-user.ts";
import { uuidTime } from "../../platform/ids.ts";
import type { ContentsKey } from "./seal-contents.ts";

export type StepRow = Pick<Selectable<LogEntries>, "at" | "metadata">;

const stepTypes = ["model_call", "tool_call", "tools", "memory", "interrupted"];

/** Between the clocks of an API node and a worker. */
const maxClockSkewMs = 3_600_000;

/** Whether the agent has the run. Its row is not read: message and response may be megabytes. */
export const hasRun = async (
  trx: OrganisationTransaction,
  { organisationId, agentId, id, ...users }: ContentsKey & VisibleUsers,
): Promise<boolean> => {
  const row = await trx
    .selectFrom("invocations")
    .select("id")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("id", "=", id)
    .where("accepted_at", "=", uuidTime(id))
    .where(ofVisibleUser(users))
    .executeTakeFirst();
  return row !== undefined;
};

/** The lines that the run itself wrote about its steps: entries that others added to its log have no line. Their number is bounded. */
export const listStepRows = (
  trx: OrganisationTransaction,
  { organisationId, agentId, id }: ContentsKey,
  visibleSince: Date,
): Promise<StepRow[]> =>
  trx
    .selectFrom("log_entries")
    .select(["at", "metadata"])
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("invocation_id", "=", id)
    .where("line", "is not", null)
    .where(sql<string>`metadata ->> 'type'`, "in", stepTypes)
    // No entry is older than its run: this limits the partitions that are read.
    .where("at", ">=", new Date(Math.max(uuidTime(id).getTime() - maxClockSkewMs, visibleSince.getTime())))
    .orderBy("line")
    .execute();

/** Contents of a run that ended later than this many days after it was accepted are in another day than the run. */
const ownDayMs = 28 * 86_400_000;

/** The sealed contents of a run; undefined if none are stored. */
export const findSealedContents = async (
  trx: OrganisationTransaction,
  { organisationId, id }: ContentsKey,
  visibleSince: Date,
): Promise<Buffer | undefined> => {
  const acceptedAt = uuidTime(id);
  const isInOwnDay = Date.now() - acceptedAt.getTime() < ownDayMs;
  const row = await trx
    .selectFrom("run_contents")
    .select("sealed")
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("accepted_at", isInOwnDay ? "=" : ">=", acceptedAt)
    .where("accepted_at", ">=", visibleSince)
    .executeTakeFirst();
  return row?.sealed;
};
