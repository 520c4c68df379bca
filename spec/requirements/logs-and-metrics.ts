import type { RequirementTable } from "./requirement.ts";

export const logsAndMetrics = {
  "logs.entry-fields": {
    section: "Resources and their fields",
    given:
      "A log entry carries timestamp (ISO 8601 UTC), level, message (string) and metadata (object), which contains request_id (string).",
  },
  "log-entry.request-id-kept": {
    section: "Resources and their fields",
    silent: "What becomes of a request_id in the metadata of an entry that a client adds: not shown.",
    decision:
      "A run's id is kept, and the entry belongs to that run. Anything else, or another run than the entry's own request_id, is 400 `invalid_request` that names `metadata.request_id`.",
  },
  "logs.levels": {
    section: "Resources and their fields",
    given: "level is one of debug, info, warn, error, in the entry and as a parameter of Get Logs.",
  },
  "time-range.format": {
    section: "Endpoints",
    silent: "The format of start_time and end_time, on Get Logs and Get Metrics: not shown.",
    decision: "RFC 3339, with `T` and `Z` in upper or lower case; start_time is included, end_time is not.",
  },
  "time-range.ahead": {
    section: "Endpoints",
    silent: "A start_time that is ahead of the server's clock, without an end_time: not shown.",
    decision: "An empty result: clocks differ. A start_time that is not before end_time is 400 `invalid_request`.",
  },
  "logs.default-range": {
    section: "Endpoints",
    silent: "The range of Get Logs without start_time and end_time: not shown.",
    decision: "The last 24 hours.",
  },
  "logs.limit": {
    section: "Endpoints",
    silent: "Default and maximum of limit on Get Logs: not shown.",
    decision: "Default 100, maximum 1000.",
  },
  "logs.order": {
    section: "Endpoints",
    silent: "The order of log entries: not shown.",
    decision: "Newest first.",
  },
  "logs.cursor": {
    section: "Endpoints",
    silent: "How to read past the first page of logs: not shown.",
    decision: "By an opaque cursor, besides offset.",
  },
  "logs.total": {
    section: "Endpoints",
    silent: "How far the total of a log list is counted: not shown.",
    decision: 'To 10,000; beyond that pagination carries `total_relation: "gte"`.',
  },
  "logs.run-steps": {
    section: "Resources and their fields",
    silent: "What the log of an agent has of its runs: not shown.",
    decision:
      "An entry for each attempt of each step: what it was, how long it took, why it failed, how long the run waited, and whether its worker was lost.",
  },
  "metrics.names": {
    section: "Resources and their fields",
    given: "metric is one of response_time, throughput, error_rate, in the series and as a parameter.",
  },
  "metrics.values": {
    section: "Resources and their fields",
    given: "values is an array of timestamp (ISO 8601 UTC), value (number) and unit (string).",
  },
  "metrics.granularities": {
    section: "Endpoints",
    given: "granularity is one of 1m, 5m, 1h, 1d.",
  },
  "metrics.default-granularity": {
    section: "Endpoints",
    silent: "The default granularity: not shown.",
    decision: "The finest that gives at most 300 points; the answer says which it was.",
  },
  "metrics.point-limit": {
    section: "Endpoints",
    silent: "How many points a series may have: not shown.",
    decision: "1,500; asking for more is 400 `invalid_request`.",
  },
  "metrics.empty-buckets": {
    section: "Endpoints",
    silent: "Whether intervals without data appear: not shown.",
    decision: "They do: every interval of the range is in the series.",
  },
  "metrics.statistic": {
    section: "Endpoints",
    silent: "Which statistic of response_time a value is: not shown.",
    decision: "The parameter statistic says: avg (the default), p50, p95 or p99.",
  },
  "metrics.units": {
    section: "Endpoints",
    silent: "The units of the metrics: not shown.",
    decision: "response_time in milliseconds, throughput in requests per minute, error_rate as a share from 0 to 1.",
  },
  "metrics.of-several-agents": {
    section: "Endpoints",
    silent: "How to get the metrics of several agents at once: not shown.",
    decision:
      "GET `/v1/metrics` answers a series for each of up to 100 agents and each metric, with at most 120 values each.",
  },
} as const satisfies RequirementTable;
