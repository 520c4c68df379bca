import { Counter, Gauge, Histogram, type Registry } from "prom-client";

type AsyncFunction<A extends unknown[], R> = (...args: A) => Promise<R>;

interface EndedRun {
  readonly status: "completed" | "failed" | "cancelled";
  readonly durationMs: number;
  /** Only for a failed run. */
  readonly code?: "run_failed" | "server_error";
}

export interface RunMetrics {
  readonly runAccepted: () => void;
  readonly runEnded: (outcome: EndedRun) => void;
  /** Events of a step are not stored for its readers. */
  readonly streamDropped: () => void;
  /** Wraps the steps so that running ones are counted. */
  readonly countSteps: <T extends object>(steps: T) => T;
  /** Wraps a model so that its calls are timed. The label `organisation` covers all providers of organisations. */
  readonly timeModel: <A extends unknown[], R>(provider: string, call: AsyncFunction<A, R>) => AsyncFunction<A, R>;
  /** Wraps a tool call so that it is counted by its outcome. */
  readonly countToolCalls: <A extends unknown[], R extends { readonly failed: boolean }>(
    call: AsyncFunction<A, R>,
  ) => AsyncFunction<A, R>;
}

const runSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900];
const statuses = ["completed", "failed", "cancelled"] as const;
const failureCodes = ["run_failed", "server_error"] as const;
const toolOutcomes = ["completed", "failed", "unavailable"] as const;

export function createRunMetrics(registry: Registry, providerOf: (name: string) => string): RunMetrics {
  const registers = [registry];
  const accepted = new Counter({
    name: "perch_runs_accepted_total",
    help: "Runs accepted and handed to the engine, counted by the API node.",
    registers,
  });
  const ended = new Counter({
    name: "perch_runs_ended_total",
    help: "Runs that ended, by status. The worker that records a run counts it once.",
    labelNames: ["status"],
    registers,
  });
  const failures = new Counter({
    name: "perch_run_failures_total",
    help: "Failed runs by code. run_failed: by the doing of the agent, of its limits, or of what it calls. server_error: Perch itself failed.",
    labelNames: ["code"],
    registers,
  });
  const durations = new Histogram({
    name: "perch_run_duration_seconds",
    help: "Time from the start of a run to its end.",
    buckets: runSeconds,
    registers,
  });
  const underWay = new Gauge({
    name: "perch_worker_active_steps",
    help: "Steps of runs in progress in this worker: model calls, tool calls, recording.",
    registers,
  });
  const droppedStreams = new Counter({
    name: "perch_stream_drops_total",
    help: "Steps and tool calls of runs whose events were not kept, because the streams of their organisation held as much as they may.",
    registers,
  });
  const modelSeconds = new Histogram({
    name: "perch_model_call_duration_seconds",
    help: "Duration of model calls by provider, including failed calls.",
    labelNames: ["provider"],
    buckets: runSeconds,
    registers,
  });
  const modelFailures = new Counter({
    name: "perch_model_call_failures_total",
    help: "Failed model calls by provider, including those that are retried.",
    labelNames: ["provider"],
    registers,
  });
  const toolCalls = new Counter({
    name: "perch_tool_calls_total",
    help: "Tool calls by outcome. completed: the tool succeeded. failed: it returned an error, which the model sees. unavailable: no usable response (network, timeout, throttling, 5xx); retried while attempts remain.",
    labelNames: ["outcome"],
    registers,
  });
  // A series that begins at its first failure hides that failure from rate().
  for (const status of statuses) ended.inc({ status }, 0);
  for (const code of failureCodes) failures.inc({ code }, 0);
  for (const outcome of toolOutcomes) toolCalls.inc({ outcome }, 0);
  modelFailures.inc({ provider: "perch" }, 0);

  const counted =
    <A extends unknown[], R>(step: AsyncFunction<A, R>): AsyncFunction<A, R> =>
    async (...args) => {
      underWay.inc();
      try {
        return await step(...args);
      } finally {
        underWay.dec();
      }
    };

  return {
    runAccepted: () => accepted.inc(),
    streamDropped: () => droppedStreams.inc(),
    runEnded: ({ status, durationMs, code = "run_failed" }) => {
      ended.inc({ status });
      if (status === "failed") failures.inc({ code });
      durations.observe(durationMs / 1000);
    },
    countSteps: (steps) =>
      Object.fromEntries(Object.entries(steps).map(([name, step]) => [name, counted(step)])) as typeof steps,
    timeModel: (name, call) => {
      const provider = providerOf(name);
      return async (...args) => {
        const stop = modelSeconds.startTimer({ provider });
        try {
          return await call(...args);
        } catch (error) {
          modelFailures.inc({ provider });
          throw error;
        } finally {
          stop();
        }
      };
    },
    countToolCalls:
      (call) =>
      async (...args) => {
        try {
          const result = await call(...args);
          toolCalls.inc({ outcome: result.failed ? "failed" : "completed" });
          return result;
        } catch (error) {
          toolCalls.inc({ outcome: "unavailable" });
          throw error;
        }
      },
  };
}
