import { randomBytes } from "node:crypto";
import { durationBucket, durationBuckets } from "../../../server/src/resources/metrics/metric-rules.ts";
import { withClient } from "../installation/scratch-database.ts";

const hourMs = 3_600_000;

/** The runs of an agent in the last day. */
export interface PastTraffic {
  readonly organisationId: string;
  readonly agentId: string;
  readonly runs: number;
  /** One in this many fails. */
  readonly failsEvery: number;
  readonly version: string | null;
  readonly durationMs: number;
  readonly message: string;
  readonly response: string;
  /** Only between these hours ago, as for a version that was a canary for a while. */
  readonly between?: readonly [number, number];
}

/** A UUIDv7 of this time. */
function idAt(time: number): string {
  const hex = Math.floor(time).toString(16).padStart(12, "0") + randomBytes(10).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** More by day than by night, as a shop's customers write. The times lie within the last 24 hours. */
function timesOf(count: number, now: number): number[] {
  const weights = Array.from({ length: 96 }, (_, quarter) => {
    const hour = new Date(now - (96 - quarter) * 900_000).getUTCHours();
    return 0.15 + Math.max(0, Math.sin(((hour - 6) / 24) * 2 * Math.PI));
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.flatMap((weight, quarter) => {
    const inQuarter = Math.round((weight / total) * count + 0.3 * Math.sin(quarter * 7));
    const start = now - (96 - quarter) * 900_000;
    return Array.from({ length: Math.max(0, inQuarter) }, (_, i) => start + (i + 0.5) * (900_000 / inQuarter));
  });
}

function recordAt(traffic: PastTraffic, time: number, index: number) {
  const at = new Date(time).toISOString();
  const failed = index % traffic.failsEvery === traffic.failsEvery - 1;
  const durationMs = Math.round(traffic.durationMs * (0.6 + ((index * 37) % 100) / 90));
  return {
    organisation_id: traffic.organisationId,
    id: idAt(time),
    accepted_at: at,
    agent_id: traffic.agentId,
    environment: index % 9 === 4 ? "staging" : "production",
    version: traffic.version,
    user_id: `customer-${1000 + ((index * 13) % 40)}`,
    session_id: null,
    message: traffic.message,
    status: failed ? "failed" : "completed",
    response: failed ? null : traffic.response,
    error: failed ? "The model acme/chat-large answered 503 until the run's time was over." : null,
    error_code: failed ? "run_failed" : null,
    retryable: failed ? true : null,
    steps: 2,
    tokens_used: 240 + ((index * 53) % 400),
    duration_ms: durationMs,
    turn: null,
    log: [],
    rollup: {
      minute: `${at.slice(0, 16)}:00Z`,
      hour: `${at.slice(0, 13)}:00:00Z`,
      failed: failed ? 1 : 0,
      cost_micros: 900,
      bucket: durationBucket(durationMs),
      buckets: durationBuckets,
    },
    event: { type: failed ? "agent.failed" : "agent.completed", data: {}, sweep_after_seconds: 30 },
  };
}

/** Records runs of the last day, as workers would have. Their steps are not recorded. */
export async function insertPastTraffic(appUrl: string, traffic: readonly PastTraffic[]): Promise<void> {
  const now = Date.now() - hourMs / 20;
  await withClient(appUrl, async (client) => {
    for (const each of traffic) {
      const [most, least] = each.between ?? [Number.POSITIVE_INFINITY, 0];
      const hoursAgo = (time: number) => (Date.now() - time) / hourMs;
      const times = timesOf(each.runs, now).filter((time) => hoursAgo(time) <= most && hoursAgo(time) >= least);
      const records = times.map((time, index) => recordAt(each, time, index));
      await client.query("select inserted from record_runs($1::jsonb, 0::smallint)", [JSON.stringify(records)]);
    }
  });
}
