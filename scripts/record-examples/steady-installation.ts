import { Installation, type InstallationPart, single } from "../../packages/contract/src/index.ts";

const places: Readonly<Record<InstallationPart["name"], string>> = {
  database: "postgres:5432",
  engine: "restate:8080",
  engine_admin: "restate:9070",
  workers: "http://worker:7401/releases/1.0.0/1",
  valkey: "valkey:6379",
};

/** The parts of the answer about an installation that differ between recordings: times, sizes, and addresses. */
export function steadyInstallation(body: unknown): unknown {
  const { success, data } = single(Installation).parse(body);
  return {
    success,
    data: {
      ...data,
      version: "1.0.0",
      node: { name: "perch-1", started_at: "2026-01-28T09:30:00.000Z" },
      checked_at: "2026-01-31T12:01:40.000Z",
      parts: data.parts.map((part) => ({
        ...part,
        address: part.address === null ? null : places[part.name],
        latency_ms: part.latency_ms === null ? null : 2,
      })),
      database: data.database && {
        ...data.database,
        size_bytes: 31_457_280,
        oldest_transaction_seconds: null,
        connections_open: 6,
        connections_in_use: 1,
        requests_waiting: 0,
      },
      engine: { invocations: { running: 2, queued: 0, retrying: 0, suspended: 4 }, tasks_waiting: 0 },
      valkey: { ...data.valkey, memory_bytes: 2_097_152 },
      releases:
        data.releases?.map((release) => ({
          ...release,
          release: "1.0.0",
          since: "2026-01-28T09:29:00.000Z",
          runs: 6,
          deployment_id: "dp_10exampleexampleexample",
          address: places.workers,
        })) ?? null,
    },
  };
}
