import type { FindInvocation } from "../../engine/find-invocation.ts";
import { webhookDeliveries } from "../../engine/services.ts";
import { uuidTime } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { attemptKey, type DeliveryTask } from "./delivery-task.ts";

interface ForgottenAttemptsDeps {
  readonly findInvocation: FindInvocation;
  readonly logger: Logger;
  readonly now: () => number;
  /** Younger deliveries are taken for known: most of them are under way, and the engine is not asked for each. */
  readonly minAgeSeconds: number;
}

/** An attempt that is deferred more often is under way. */
const maxDeferred = 50;

/**
 * The task that makes the attempt. The engine may have made it although the database, which was restored from a backup, does not know:
 * it would ignore the attempt for as long as it remembers it, so the attempt gets another key, which stays the same for an hour.
 */
export type NameAttempt = (task: DeliveryTask) => Promise<DeliveryTask>;

export function createNameAttempt({ findInvocation, logger, now, minAgeSeconds }: ForgottenAttemptsDeps): NameAttempt {
  const hasEnded = async (task: DeliveryTask): Promise<boolean> => {
    for (let deferred = 0; deferred <= maxDeferred; deferred++) {
      const found = await findInvocation(`${webhookDeliveries}/deliver`, attemptKey({ ...task, deferred }));
      if (found === "under_way") return false;
      // The one before has ended and has not deferred it again.
      if (found === "unknown") return deferred > 0;
    }
    return false;
  };
  return async (task) => {
    if (now() - uuidTime(task.id).getTime() < minAgeSeconds * 1000) return task;
    try {
      return (await hasEnded(task)) ? { ...task, again: String(Math.floor(now() / 3_600_000)) } : task;
    } catch (error) {
      logger.debug({ err: error }, "engine does not say whether it made an attempt, the next sweep asks again");
      return task;
    }
  };
}
