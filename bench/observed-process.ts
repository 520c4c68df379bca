import { subscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { basename } from "node:path";
import { isMainThread } from "node:worker_threads";
import type { RunStage, RunStageMessage } from "../packages/server/src/platform/run-stages.ts";

/** Milliseconds at which a run passed each stage, on the clock that all processes of a machine share. */
export type StageTimes = Partial<Record<"request_arrived" | RunStage | "response_sent", number>>;

/** What an observed process answers. Times of its event loop count from its start. */
export interface Observation {
  readonly pid: number;
  readonly name: string;
  readonly idleMs: number;
  readonly activeMs: number;
  /** The stages that runs have passed in this process since the last answer, by the run's id. */
  readonly runs: Readonly<Record<string, StageTimes>>;
}

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

let runs: Record<string, StageTimes> = {};

/** A request and its run are joined by the correlation id that the client sends. */
function collectStages(): void {
  const requests = new Map<unknown, StageTimes>();
  const idOf = (message: unknown) => (message as { request: IncomingMessage }).request.headers["x-correlation-id"];
  subscribe("http.server.request.start", (message) => {
    const id = idOf(message);
    if (id) requests.set(id, { request_arrived: nowMs() });
  });
  subscribe("perch:run", (message) => {
    const { runId, stage, correlationId } = message as RunStageMessage;
    const times = runs[runId] ?? requests.get(correlationId) ?? {};
    times[stage] ??= nowMs();
    runs[runId] = times;
  });
  subscribe("http.server.response.finish", (message) => {
    const times = requests.get(idOf(message));
    if (times) times.response_sent = nowMs();
    requests.delete(idOf(message));
  });
}

function observe(): Observation {
  const { idle, active } = performance.eventLoopUtilization();
  const [, file = "", role = basename(file, ".ts")] = process.argv;
  const observation = { pid: process.pid, name: role, idleMs: idle, activeMs: active, runs };
  runs = {};
  return observation;
}

/** Preloaded by a process under load, and by those that it starts: observer.ts asks it. */
if (isMainThread) {
  const socket = connect(`\0${process.env.BENCH_OBSERVER}`, () => socket.unref());
  socket.on("error", () => undefined);
  let isCollecting = false;
  socket.on("data", (question) => {
    socket.write(`${JSON.stringify(observe())}\n`);
    if (isCollecting || question.toString() !== "stages") return;
    isCollecting = true;
    collectStages();
  });
}
