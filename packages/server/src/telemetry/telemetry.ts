import { operationKeys } from "@perch/contract";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { createDependencyMetrics, type DependencyMetrics } from "./dependency-metrics.ts";
import { createHousekeepingMetrics, type HousekeepingMetrics } from "./housekeeping-metrics.ts";
import { createQuotaMetrics, type QuotaMetrics } from "./quota-metrics.ts";
import { createReconcileMetrics, type ReconcileMetrics } from "./reconcile-metrics.ts";
import { createReleaseMetrics, type ReleaseMetrics } from "./release-metrics.ts";
import { createRunMetrics, type RunMetrics } from "./run-metrics.ts";
import { createShareMetrics, type ShareMetrics } from "./share-metrics.ts";
import { createSigningMetrics, type SigningMetrics } from "./signing-metrics.ts";

/**
 * The operators' view of this process. A label has few values, known when the process starts: never an id, a path or a
 * name that a tenant chose. Unknown values are counted as `unknown`.
 */
export interface Telemetry
  extends RunMetrics,
    DependencyMetrics,
    ShareMetrics,
    QuotaMetrics,
    SigningMetrics,
    ReleaseMetrics,
    HousekeepingMetrics,
    ReconcileMetrics {
  /** `seconds` is omitted for streams: the client decides how long they last. */
  readonly requestEnded: (operation: string, status: number | "client_closed", seconds?: number) => void;
  readonly requestRefused: (limit: Limit) => void;
  readonly watchStreams: (open: () => number) => void;
  /** Adds metrics of the process itself: version, role, memory, event loop. Only called if metrics are served. */
  readonly watchProcess: (role: Role) => void;
  /** Adds the metrics of a resource. */
  readonly add: <T>(create: (registry: Registry) => T) => T;
  /** Everything, as Prometheus reads it. */
  readonly read: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

/**
 * The operations that requests are counted under: the contract's, the two health pages, and all files of the console
 * together.
 */
export const measuredOperations: readonly string[] = [
  ...operationKeys,
  "GET /healthz",
  "GET /readyz",
  "GET /console/*",
];

const limits = [
  ...(["organisation", "console", "agent", "address", "concurrent_runs"] as const),
  ...(["calls", "calls_to_host"] as const),
] as const;
export type Limit = (typeof limits)[number];
export type Role = "serve" | "work" | "all";

const unknown = "unknown";
const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

interface TelemetryOptions {
  readonly version: string;
  /** Operations that get a series of their own. */
  readonly operations: readonly string[];
  /** Providers of the installation, which get one too. */
  readonly providers: readonly string[];
}

/** Gauges whose names Prometheus takes for counters, read from parts of Node that are not public. */
const misnamed = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

const knownOrUnknown = (known: readonly string[]): ((value: string) => string) => {
  const set = new Set(known);
  return (value) => (set.has(value) ? value : unknown);
};

const statusClasses = ["1xx", "2xx", "3xx", "4xx", "5xx"];
const statusClass = (status: number | "client_closed"): string =>
  status === "client_closed" ? status : (statusClasses[Math.floor(status / 100) - 1] ?? unknown);

/** The series that a request is counted in. */
interface RequestSeries {
  /** Requests by status class since the metrics were last read: added to the counter only then, which is much cheaper. */
  readonly uncollected: Map<string, number>;
  readonly observe: (seconds: number) => void;
}

function createRequestMetrics(registry: Registry, operations: readonly string[]) {
  const registers = [registry];
  const operationOf = knownOrUnknown(operations);
  const seriesByOperation = new Map<string, RequestSeries>();
  new Counter({
    name: "perch_http_requests_total",
    help: "Requests that ended, by operation and status class. client_closed: the client disconnected before the response was complete.",
    labelNames: ["operation", "status"],
    registers,
    collect() {
      for (const [operation, { uncollected }] of seriesByOperation) {
        for (const [status, count] of uncollected) this.inc({ operation, status }, count);
        uncollected.clear();
      }
    },
  });
  const durations = new Histogram({
    name: "perch_http_request_duration_seconds",
    help: "Time from receiving a request to the end of its response. Event streams are not included.",
    labelNames: ["operation"],
    buckets: requestSeconds,
    registers,
  });
  const refusals = new Counter({
    name: "perch_rate_limit_refusals_total",
    help: "Requests refused by a rate limit or by the limit on concurrent runs, and calls to other servers refused by their rates, by limit.",
    labelNames: ["limit"],
    registers,
  });
  for (const limit of limits) refusals.inc({ limit }, 0);
  const findSeries = (name: string): RequestSeries => {
    const operation = operationOf(name);
    const series = seriesByOperation.get(operation) ?? {
      uncollected: new Map<string, number>(),
      observe: durations.labels({ operation }).observe,
    };
    seriesByOperation.set(operation, series);
    return series;
  };
  let openStreams = () => 0;
  new Gauge({
    name: "perch_http_event_streams",
    help: "Open event streams.",
    registers,
    collect() {
      this.set(openStreams());
    },
  });
  return {
    requestEnded: (name: string, status: number | "client_closed", seconds?: number) => {
      const { uncollected, observe } = seriesByOperation.get(name) ?? findSeries(name);
      const counted = statusClass(status);
      uncollected.set(counted, (uncollected.get(counted) ?? 0) + 1);
      if (seconds !== undefined) observe(seconds);
    },
    requestRefused: (limit: Limit) => refusals.inc({ limit }),
    watchStreams: (open: () => number) => {
      openStreams = open;
    },
  };
}

export function createTelemetry({ version, operations, providers }: TelemetryOptions): Telemetry {
  const registry = new Registry();
  const build = new Gauge({
    name: "perch_build_info",
    help: "Always 1; the labels have the version, and the role: serve, work or all.",
    labelNames: ["version", "role"],
    registers: [registry],
  });
  return {
    ...createRequestMetrics(registry, operations),
    ...createRunMetrics(registry, knownOrUnknown(["perch", "organisation", "remote_agent", ...providers])),
    ...createDependencyMetrics(registry),
    ...createShareMetrics(registry),
    ...createQuotaMetrics(registry),
    ...createSigningMetrics(registry),
    ...createReleaseMetrics(registry),
    ...createHousekeepingMetrics(registry),
    ...createReconcileMetrics(registry),
    watchProcess: (role) => {
      build.set({ version, role }, 1);
      collectDefaultMetrics({ register: registry });
      for (const name of misnamed) registry.removeSingleMetric(name);
    },
    add: (create) => create(registry),
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}
