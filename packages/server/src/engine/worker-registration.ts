import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../platform/logger.ts";
import type { EngineAdmin, EngineDeployment } from "./engine-admin.ts";
import { isServed } from "./is-served.ts";
import { addressOf, parseAddress } from "./release-address.ts";
import { agentRuns } from "./services.ts";

interface RegistrationOptions {
  readonly admin: EngineAdmin;
  /** The address at which the engine reaches the workers of this release, the same for all of them. */
  readonly workerUrl: string;
  readonly release: string;
  readonly version: string;
  /** The names of the services that the workers serve. */
  readonly serviceNames: readonly string[];
  /** The release that takes new runs, and the turn in which it does. */
  readonly findActiveTurn: () => Promise<{ readonly release: string; readonly turn: number } | undefined>;
  /** Stores that this turn has a worker, and what it understands. */
  readonly markRegistered: (turn: number) => Promise<void>;
  /** Called after each registration of this release's services that the engine did not have as current. */
  readonly onRegistered: () => void;
  readonly logger: Logger;
}

export interface WorkerRegistration {
  /** Resolves when new runs come here or another release is active: there is nothing to wait for then. */
  readonly settled: Promise<void>;
  /** The turn in which this worker's release takes new runs, if it is the active one and registered. */
  readonly turn: () => number | undefined;
  /** Whether the last look found another release active. */
  readonly isSuperseded: () => boolean;
  /** The number of runs, of any release, that need a worker at an address that does not answer, when last counted. */
  readonly runsWithoutWorkers: () => number;
  readonly stop: () => void;
}

/** How soon a worker that runs already notices that its release was activated. */
const everyMs = 5000;
const minRetryMs = 200;
/** The engine may be away for long, and every worker looks every few seconds. */
const failuresPerLogLine = 12;
/** An address at which no worker of the release answered so many times in a row is given up. */
const missesUntilMoved = 2;
/** Not at the first look, for which the start of the worker waits. */
const looksPerCount = 6;

/**
 * Moves runs of this release to its workers here from addresses that no longer serve it. Other releases are not
 * changed.
 */
function createMoves({ admin, workerUrl, release, logger }: RegistrationOptions) {
  const misses = new Map<string, number>();
  return async (deployments: readonly EngineDeployment[]): Promise<void> => {
    for (const { id, uri } of deployments) {
      const address = parseAddress(uri);
      if (address?.release !== release || address.workerUrl === workerUrl) continue;
      const missed = (await isServed(uri)) ? 0 : (misses.get(id) ?? 0) + 1;
      misses.set(id, missed);
      if (missed < missesUntilMoved) continue;
      const to = addressOf({ ...address, workerUrl }, id);
      try {
        await admin.move(id, to);
        logger.warn({ from: uri, to }, "no worker of this release answered, its runs were moved here");
      } catch (error) {
        logger.warn(
          { err: error, from: uri, to },
          "no worker of this release answers, and its runs cannot be moved here",
        );
      }
    }
  };
}

/** Counts runs at addresses without a worker that answers. The engine counts only if there is such an address. */
export async function countRunsWithoutWorkers(
  admin: EngineAdmin,
  deployments: readonly EngineDeployment[],
): Promise<number> {
  const served = await Promise.all(deployments.map(({ uri }) => isServed(uri)));
  const silent = deployments.filter((_, i) => !served[i]);
  if (silent.length === 0) return 0;
  const bound = await admin.countBound();
  return silent.reduce((sum, { id }) => sum + (bound.get(id) ?? 0), 0);
}

/**
 * While this release is active, sees to it that the engine sends new runs to its workers, and to none of another release. A second
 * server of the same release at another address takes new runs over when it starts. When it is gone, its runs are moved back.
 */
export function keepRegistered(options: RegistrationOptions): WorkerRegistration {
  const { admin, workerUrl, release, version, serviceNames, findActiveTurn, markRegistered, onRegistered, logger } =
    options;
  const moveUnserved = createMoves(options);
  const stopped = new AbortController();
  const settled = Promise.withResolvers<void>();
  let registeredTurn: number | undefined;
  let markedTurn: number | undefined;
  let isSuperseded = false;
  let looks = 0;
  let runsWithoutWorkers = 0;

  /**
   * New runs go to this release in this turn. When a process starts, the engine must also know its address, version and services:
   * a checkout under development has other services under the same version.
   */
  const isCurrent = (current: EngineDeployment, turn: number): boolean => {
    const address = parseAddress(current.uri);
    if (address?.release !== release || address.turn !== turn) return false;
    if (registeredTurn === turn) return true;
    const isComplete = serviceNames.every((name) => current.current.includes(name));
    return isComplete && address.workerUrl === workerUrl && current.version === version;
  };

  const ensureRegistered = async (turn: number, deployments: readonly EngineDeployment[]): Promise<void> => {
    const current = deployments.find((each) => each.current.includes(agentRuns));
    if (!current || !isCurrent(current, turn)) {
      const address = addressOf({ workerUrl, release, turn });
      // The look at the engine took time, in which another release may have been activated.
      if ((await findActiveTurn())?.turn !== turn) throw new Error("Another release was activated meanwhile");
      await admin.register(address, version);
      logger.info({ address }, "worker registered with the engine");
      onRegistered();
    }
    registeredTurn = turn;
    if (markedTurn === turn) return;
    await markRegistered(turn);
    markedTurn = turn;
  };

  const look = async (): Promise<void> => {
    const [active, deployments] = await Promise.all([findActiveTurn(), admin.listDeployments()]);
    if (active?.release === release) {
      isSuperseded = false;
      await ensureRegistered(active.turn, deployments);
    } else {
      registeredTurn = undefined;
      if (!isSuperseded)
        logger.warn(
          { release, active: active?.release ?? null },
          "another release takes new runs, this one only ends its own; to give it new runs, run perch-server activate-release",
        );
      isSuperseded = true;
    }
    await moveUnserved(deployments);
    if (++looks % looksPerCount === 2) runsWithoutWorkers = await countRunsWithoutWorkers(admin, deployments);
  };

  const loop = async (): Promise<void> => {
    for (let failures = 0; !stopped.signal.aborted; ) {
      try {
        await look();
        failures = 0;
        settled.resolve();
      } catch (error) {
        failures += 1;
        const write = failures % failuresPerLogLine === 1 ? logger.warn : logger.debug;
        if (!stopped.signal.aborted)
          write.call(logger, { err: error, attempt: failures }, "worker registration failed, will retry");
      }
      const delayMs = failures === 0 ? everyMs : Math.min(minRetryMs * 2 ** (failures - 1), everyMs);
      await sleep(delayMs, undefined, { signal: stopped.signal, ref: false }).catch(() => undefined);
    }
    settled.resolve();
  };
  void loop();

  return {
    settled: settled.promise,
    turn: () => registeredTurn,
    isSuperseded: () => isSuperseded,
    runsWithoutWorkers: () => runsWithoutWorkers,
    stop: () => stopped.abort(),
  };
}
