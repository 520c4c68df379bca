import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Observation } from "./observed-process.ts";

/** `stages` also begins to collect those of runs. */
type Question = "use" | "stages";

export interface Observer {
  /** The environment of a process that is observed, with those that it starts. */
  readonly env: NodeJS.ProcessEnv;
  /** Asks all of them. */
  readonly observe: (question: Question) => Promise<readonly Observation[]>;
}

/** How busy the event loop of a process was, and the stages that runs passed in it. */
export interface ProcessUse extends Pick<Observation, "name" | "runs"> {
  readonly utilization: number;
}

/** Listens on an abstract socket, which only Linux has, and asks the processes that connect. */
export async function startObserver(): Promise<Observer> {
  const name = `perch-bench-${randomUUID()}`;
  const processes = new Map<Socket, AsyncIterator<string>>();
  const server = createServer((socket) => {
    processes.set(socket, createInterface({ input: socket })[Symbol.asyncIterator]());
    socket.on("error", () => undefined).on("close", () => processes.delete(socket));
  });
  server.listen(`\0${name}`).unref();
  await once(server, "listening");
  return {
    env: {
      BENCH_OBSERVER: name,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --import=${join(import.meta.dirname, "observed-process.ts")}`,
    },
    observe: async (question) => {
      const answers = [...processes].map(async ([socket, lines]) => {
        socket.write(question);
        const { value, done } = await lines.next();
        return done ? [] : [JSON.parse(value) as Observation];
      });
      return (await Promise.all(answers)).flat();
    },
  };
}

/** The use between two observations, of the processes with these ids. */
export function usesBetween(
  before: readonly Observation[],
  after: readonly Observation[],
  pids: readonly number[],
): ProcessUse[] {
  return after.flatMap(({ pid, name, idleMs, activeMs, runs }) => {
    const start = before.find((each) => each.pid === pid);
    if (!start || !pids.includes(pid)) return [];
    const active = activeMs - start.activeMs;
    return { name, runs, utilization: active / (active + idleMs - start.idleMs) };
  });
}
