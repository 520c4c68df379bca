import type { Pages, Told } from "./told.ts";

/** Lines that the warehouse's own program adds to the log. */
const added = [
  {
    level: "debug",
    message: "Asked the carrier for parcel BE-99-4217-01",
    metadata: { carrier: "BPost", took_ms: 212 },
  },
  {
    level: "info",
    message: "Stock of tea-jasmine-100 read: 12 packets",
    metadata: { sku: "tea-jasmine-100", packets: 12 },
  },
  { level: "warn", message: "Stock of tea-jasmine-100 is low", metadata: { sku: "tea-jasmine-100", version: "v2" } },
  {
    level: "error",
    message: "The label printer in Ghent does not answer\nIt was asked three times.",
    metadata: { printer: "ghent-2", attempts: 3, environment: "staging" },
  },
] as const;

/** The log of the agent that talks to customers, an empty log, and the choice of an agent. */
export async function tellLogs({ perch }: Told): Promise<Pages> {
  await perch.logs.add("support", { entries: added.map((entry) => ({ ...entry })) });
  const { data } = await perch.logs.list("support", { level: "error", limit: 1 }).page();
  return {
    logs: "/logs?agent=support",
    "logs-line": `/logs?agent=support&line=${data[0]?.id}`,
    "logs-tail": "/logs?agent=support&tail=1",
    "logs-errors": "/logs?agent=support&level=error",
    "logs-none-match": "/logs?agent=support&contains=nothing-says-this",
    "logs-choice": "/logs",
    "logs-no-agent": "/logs?agent=nobody",
  };
}
