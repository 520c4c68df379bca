import { z } from "zod";
import { Instant, Pagination, Timestamp, wholeNumber } from "./envelopes.ts";
import { AgentId, AuditId, KeyId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

export const auditActors = ["key", "oauth", "jwt", "operator", "public"] as const;
export type AuditActor = (typeof auditActors)[number];
export const auditOutcomes = ["changed", "refused"] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

export const AuditEntry = z
  .object({
    id: AuditId,
    created_at: Timestamp,
    actor: z
      .enum(auditActors)
      .describe(
        "Who vouched for it: `key` an API key; `oauth`, `jwt` a key and a user's token; `operator` a command on the server; `public` nobody.",
      ),
    key_id: KeyId.nullable(),
    user_id: z.string().nullable().describe("The user of the token, where there was one."),
    operation: z
      .string()
      .describe("The operation's id in this document, such as `updateAgent`, or an operator's command."),
    resource_type: z.string(),
    resource: z.string().nullable().describe("The id of what was changed, or its name where it has no id."),
    agent_id: AgentId.nullable().describe("The agent it belongs to."),
    address: z.string().nullable().describe("Where the request came from."),
    request_id: z.string().nullable().describe("`X-Request-Id` of the answer."),
    outcome: z.enum(auditOutcomes),
    details: z
      .object({
        fields: z.array(z.string()).optional().describe("Which fields the request named; never their values."),
        reason: z.string().optional().describe("Why it was refused."),
      })
      .meta({ id: "AuditDetails" }),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

const AuditQuery = z.strictObject({
  key_id: KeyId.optional(),
  operation: z.string().min(1).max(100).optional(),
  resource: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe("An id such as agent_…, dep_…, key_…, or a provider's name."),
  outcome: z.enum(auditOutcomes).optional(),
  start_time: Instant.optional().describe("From this time on."),
  end_time: Instant.optional().describe("Before this time."),
  limit: wholeNumber({ min: 1, max: 1000, default: 100, description: "Entries on a page." }),
  offset: wholeNumber({ min: 0, max: 100_000, default: 0, description: "Entries to skip. `cursor` costs less." }),
  cursor: z.string().max(200).optional().describe("`pagination.next_cursor` of the page before."),
});
export type AuditQuery = z.output<typeof AuditQuery>;

export const auditOperations = {
  "GET /v1/audit-log": {
    id: "getAuditLog",
    tag: "Audit log",
    summary: "Get audit log",
    description:
      "Newest first, for 400 days. A key that belongs to one agent sees what was done to that agent. `total` is counted up to 10,000; beyond that `total_relation` is `gte`.",
    permission: "manage",
    query: AuditQuery,
    status: 200,
    response: z.object({
      data: z.array(AuditEntry),
      pagination: Pagination.extend({ total_relation: z.enum(["eq", "gte"]), next_cursor: z.string().nullable() }).meta(
        {
          id: "AuditPagination",
        },
      ),
    }),
  },
} as const satisfies OperationTable;

/** Work of agents, not changes to what they are: it has its own record (invocations and logs) and leaves no audit entry. */
export const dataPlaneOperations: readonly string[] = ["invokeAgent", "cancelInvocation", "addLogs", "searchMemory"];
