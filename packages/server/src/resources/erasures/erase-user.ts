import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { EngineRuns } from "../../engine/engine-runs.ts";
import type { ErasureKey } from "../../engine/messages.ts";
import type { RunSlots } from "../../limits/run-slots.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import type { Digest, Sealer } from "../../platform/sealing.ts";
import type { RunStreams } from "../../streams/run-streams.ts";
import type { Counts, ErasedUser, EraseStage, Erasure, Position } from "../erasure-stage.ts";
import { findClearToEnd } from "../memory/erase-memories.ts";
import type { RunClear } from "../memory/run-clear.ts";
import type { ContinueRuns } from "../waiting-runs/continue-runs.ts";
import { type ErasureRow, findErasure, findErasureForUpdate, updateProgress } from "./erasure-queries.ts";
import {
  addCounts,
  afterStage,
  isInStage,
  maxWaitMs,
  nextWaitMs,
  type Progress,
  requireKnown,
  runStages,
  type StageProgress,
} from "./erasure-rules.ts";
import { createFindOpenRuns } from "./open-runs.ts";
import { digestUserOfRun, openUser } from "./seal-user.ts";
import * as queries from "./user-run-queries.ts";

interface EraseDeps {
  readonly db: Database;
  readonly engineRuns: EngineRuns;
  readonly slots: RunSlots;
  readonly streams: Pick<RunStreams, "delete">;
  readonly runClear: RunClear;
  readonly continueRuns: Pick<ContinueRuns, "start">;
  readonly erasedUsers: Sealer;
  /** The parts of a receipt. */
  readonly receiptParts: Erasure["receipt"];
  readonly userDigest: Digest;
  readonly logger: Logger;
  readonly now: () => number;
  /**
   * A request that was accepted at the last moment has a slot, or is in the engine, after this time. As long passes between two looks
   * at runs under way.
   */
  readonly pauseMs: number;
}

/** Small enough that every transaction stays far below the limit of a statement. */
const readRows = 5000;
const stepMs = 5000;

/** The engine keeps results for an hour, and streams live for less. */
const keptMs = 2 * 3_600_000;

/** Null if it has completed, or does not exist. */
interface StepResult {
  readonly againAfterMs: number | null;
}

/** A durable step that erases for a few seconds. It may be repeated at any point: progress commits with the work it stands for. */
export function createEraseStep(
  deps: EraseDeps,
  stagesOfResources: readonly EraseStage[],
): (erasure: ErasureKey) => Promise<StepResult> {
  const { db, engineRuns, streams, runClear, erasedUsers, userDigest, logger, now, pauseMs } = deps;
  const findOpenRuns = createFindOpenRuns(deps);
  const declared = new Map(stagesOfResources.map((stage) => [stage.name, stage]));
  const stages = [...runStages, ...declared.keys()];
  const after = (stage: string, isLast: boolean) => afterStage(stages, { stage, isLast });

  /** Does the work in one transaction with its progress, unless another process has gone on in between. */
  const commit = (
    row: ErasureRow,
    work: (trx: OrganisationTransaction) => Promise<readonly [Counts, Progress | undefined]>,
  ) =>
    db.inOrganisation(row.organisation_id, async (trx) => {
      const key = { organisationId: row.organisation_id, id: row.id };
      const current = await findErasureForUpdate(trx, key);
      if (JSON.stringify(current?.progress) !== JSON.stringify(row.progress)) return;
      const [counts, progress] = await work(trx);
      requireKnown(deps.receiptParts, counts);
      await updateProgress(trx, key, addCounts(row.counts as Counts, counts), progress);
    });

  /** The engine and the streams first: if this is repeated, the records still show which runs they are. */
  const eraseRuns = async (row: ErasureRow, user: ErasedUser, isLast: boolean, position: Position) => {
    const page = await db.inOrganisation(user.organisationId, (trx) =>
      queries.listRunsOfUser(trx, user, position, readRows),
    );
    // A run under way would write its texts anew, and one that has ended may still be in the engine for a moment. Both wait for the
    // last pass, which finds none under way. The engine is asked after the records: a run that it has ended by then can be purged.
    const open = isLast || page.runs.length === 0 ? [] : await engineRuns.listOpen(user.until);
    const inEngine = new Set(open.map(({ id }) => id));
    const runs = page.runs.filter(({ id, isRunning }) => isLast || !(isRunning || inEngine.has(id)));
    const recent = runs
      .filter(({ finishedAt }) => finishedAt === null || finishedAt.getTime() > user.until.getTime() - keptMs)
      .map(({ id }) => id);
    const engine_runs = recent.length === 0 ? 0 : await engineRuns.purge(recent);
    const removed = recent.length === 0 ? 0 : await streams.delete(recent);
    await commit(row, async (trx) => {
      const erased =
        runs.length === 0
          ? {}
          : await queries.eraseRuns(
              trx,
              user,
              runs.map(({ id }) => id),
            );
      const counts = addCounts(erased, { engine_runs, streams: removed });
      return [counts, page.next ? { stage: "runs", isLast, position: page.next } : after("runs", isLast)];
    });
  };

  /** Waits for messages that are still under way, such as the delivery of an event. */
  const eraseSent = async (
    row: ErasureRow,
    { organisationId, userId }: ErasedUser,
    { isLast, waitingSince = new Date(now()).toISOString() }: StageProgress,
  ) => {
    const { purged, open } = await engineRuns.purgeSent(organisationId, userId);
    const waitedMs = now() - Date.parse(waitingSince);
    const left = isLast ? open : 0;
    const mustWait = left > 0 && waitedMs < maxWaitMs;
    const next: Progress | undefined = mustWait ? { stage: "sent", isLast, waitingSince } : after("sent", isLast);
    await commit(row, async () => [{ engine_sent: purged, ...(!mustWait && { engine_sent_left: left }) }, next]);
    return mustWait ? nextWaitMs(waitedMs) : 0;
  };

  const eraseDeclared = async (row: ErasureRow, user: ErasedUser, { stage, isLast, position = {} }: StageProgress) => {
    const found = declared.get(stage);
    if (!found) throw new Error(`there is no stage ${stage} of erasures`);
    const prepared = await found.prepare?.(user);
    await commit(row, async (trx) => {
      const done = await found.erase(trx, user, position, prepared as never);
      return [done.counts, done.position ? { stage, isLast, position: done.position } : after(stage, isLast)];
    });
  };

  /** Ended clears are deleted with the rest. An open one would outlive the erasure, and name its user. False: there is none. */
  const continueClear = async (user: ErasedUser): Promise<boolean> => {
    const clear = await db.inOrganisation(user.organisationId, (trx) => findClearToEnd(trx, user));
    if (clear) await runClear(clear, stepMs);
    return clear !== undefined;
  };

  /** Looks for runs under way, before a pass. */
  const beginPass = async (row: ErasureRow, user: ErasedUser, progress: Progress): Promise<number> => {
    const waitedMs = now() - row.created_at.getTime();
    if (waitedMs < pauseMs) return Math.min(pauseMs - waitedMs, pauseMs);
    if (await continueClear(user)) {
      await commit(row, async () => [{}, progress]);
      return 0;
    }
    const { inEngine, recorded, cancelled } = await findOpenRuns(user);
    const counts = { waiting_runs: cancelled };
    const isOpen = inEngine || (recorded > 0 && waitedMs < maxWaitMs);
    if (isOpen && progress.stage === "settle") {
      await commit(row, async () => [counts, progress]);
      return nextWaitMs(waitedMs);
    }
    await commit(row, async () => [counts, { stage: "runs", isLast: !isOpen }]);
    return 0;
  };

  /** One transaction's worth of work; how long to wait before the next. */
  const advance = async (row: ErasureRow, user: ErasedUser): Promise<number> => {
    const progress = row.progress as unknown as Progress;
    if (!isInStage(progress)) return beginPass(row, user, progress);
    const { stage, isLast, position = {} } = progress;
    if (stage === "sent") return eraseSent(row, user, progress);
    if (stage === "runs") await eraseRuns(row, user, isLast, position);
    else await eraseDeclared(row, user, progress);
    return 0;
  };

  return async (key) => {
    const until = now() + stepMs;
    for (;;) {
      const row = await db.inOrganisation(key.organisationId, (trx) => findErasure(trx, key));
      if (!row || row.sealed_user === null) {
        if (row) logger.info({ erasureId: toPublicId("erasure", key.id), counts: row.counts }, "user erased");
        return { againAfterMs: null };
      }
      const { organisationId } = key;
      const userId = openUser(erasedUsers, row.sealed_user, key);
      const digests = { user: row.user_digest, runs: digestUserOfRun(userDigest, organisationId, userId) };
      const wait = await advance(row, { organisationId, userId, until: row.created_at, digests });
      if (wait > 0) return { againAfterMs: wait };
      if (now() >= until) return { againAfterMs: 0 };
    }
  };
}
