import { z } from "zod";
import { single, Timestamp } from "./envelopes.ts";
import type { OperationTable } from "./operation.ts";

export const partNames = ["database", "engine", "engine_admin", "workers", "valkey"] as const;
export const partStatuses = ["ok", "degraded", "silent", "unknown", "not_configured"] as const;

export const InstallationPart = z
  .object({
    name: z
      .enum(partNames)
      .describe(
        "`engine` is one node of the engine as API nodes call it, and `engine_admin` one as workers register there. `workers` are those that new runs go to, as the engine reaches them.",
      ),
    address: z.string().nullable().describe("Host and port, without a user or a password."),
    status: z
      .enum(partStatuses)
      .describe(
        "`degraded`: it answers, and something is to be done. `silent`: it did not answer this node within 2 seconds. `unknown`: only the engine can say it of the workers, and did not.",
      ),
    latency_ms: z.int().nullable().describe("How long the answer took; null if there was none."),
    message: z.string().nullable().describe("What is wrong or different; null if nothing is."),
  })
  .meta({ id: "InstallationPart" });
export type InstallationPart = z.infer<typeof InstallationPart>;

export const releaseStates = [
  "takes_new_runs",
  "ends_its_runs",
  "superseded",
  "can_be_retired",
  "has_no_worker_yet",
] as const;

export const InstalledRelease = z
  .object({
    release: z.string().nullable().describe("null: a version before 0.2.0, which did not say its name."),
    turn: z.int().nullable().describe("Counts the releases that took new runs; the highest one does now."),
    since: Timestamp.describe("When it began to take new runs."),
    runs: z.int().describe("Runs, and other invocations, that can end only there."),
    state: z
      .enum(releaseStates)
      .describe(
        "`ends_its_runs`: its workers must stay until `runs` is 0. `superseded`: another release took over just now. `can_be_retired`: nothing needs it any more.",
      ),
    deployment_id: z.string().nullable().describe("The engine's id of its address, for `perch-server retire`."),
    address: z.string().nullable().describe("Where the engine calls its workers."),
  })
  .meta({ id: "InstalledRelease" });
export type InstalledRelease = z.infer<typeof InstalledRelease>;

export const Installation = z
  .object({
    version: z.string().describe("Of the node that answered."),
    node: z
      .object({ name: z.string().describe("Its host name."), started_at: Timestamp })
      .describe("The node that answered. Another one may see the parts differently."),
    checked_at: Timestamp.describe("When the parts were asked. A node asks them at most every 2 seconds."),
    parts: z.array(InstallationPart),
    database: z
      .object({
        pending_migrations: z.array(z.string()),
        size_bytes: z.int().nullable(),
        oldest_transaction_seconds: z
          .number()
          .nullable()
          .describe("Of the server's role; null if there is none beside the one that asks."),
        connections_open: z.int().describe("Of the node that answered, like the other numbers of connections."),
        connections_in_use: z.int(),
        connections_max: z.int(),
        requests_waiting: z.int().describe("Queries and transactions that wait for a connection."),
      })
      .nullable()
      .describe("null if it is silent."),
    engine: z.object({
      invocations: z
        .object({
          running: z.int(),
          queued: z.int().describe("Could run now, and have not begun."),
          retrying: z.int().describe("Failed, and wait for their next attempt."),
          suspended: z.int().describe("Wait for something, or for a later time."),
        })
        .nullable()
        .describe(
          "Runs and other invocations that have not ended; null if no admin address of the engine answers, or if the engine has not counted them yet. Where counting takes long, it is done seldom, and the numbers may be minutes old.",
        ),
      tasks_waiting: z
        .int()
        .nullable()
        .describe(
          "Tasks that were committed more than 5 seconds ago and that the engine does not have yet, 1,000 at most; null if the database is silent.",
        ),
    }),
    valkey: z
      .object({
        memory_bytes: z.int().nullable(),
        limits: z
          .enum(["shared", "per_node"])
          .describe("`per_node`: each node counts for itself, because there is no Valkey or it is silent."),
      })
      .describe("Rate limits, slots of runs, and streams."),
    releases: z
      .array(InstalledRelease)
      .nullable()
      .describe(
        "Newest first; null if no admin address of the engine answers, or if the engine has not counted their runs yet. Where counting takes long, it is done seldom, and `runs` may be minutes old.",
      ),
  })
  .meta({ id: "Installation" });
export type Installation = z.infer<typeof Installation>;

export const installationOperations = {
  "GET /v1/installation": {
    id: "getInstallation",
    tag: "Installation",
    summary: "Get installation",
    description:
      "The health of the installation as the node that answers sees it: its parts, what they hold, and the releases with the runs that can end only there. It says nothing about any organisation. Needs the permission `operate`, which is in no role: the operator gives it with `perch-server create-key --operate`. Answers within 3 seconds, also if parts are silent.",
    permission: "operate",
    agents: "none",
    status: 200,
    response: single(Installation),
  },
} as const satisfies OperationTable;
export type InstallationOperationKey = keyof typeof installationOperations;
