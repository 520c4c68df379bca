import { z } from "zod";
import { cursorList, cursorQuery, Instant, Timestamp } from "./envelopes.ts";
import { AgentId, AuditId, ConsoleSessionId, KeyId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

export const auditActors = ["key", "oauth", "jwt", "person", "operator", "system", "public"] as const;
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
        "How the caller was authenticated. `key`: an API key. `oauth` or `jwt`: an API key and a user's token. `person`: a person who signed in to the console. `operator`: a command on the server. `system`: Perch itself, such as a guard that rolled a canary back. `public`: not at all.",
      ),
    key_id: KeyId.nullable(),
    user_id: z.string().nullable().describe("The user that the token names, if the request had one."),
    person: z
      .string()
      .nullable()
      .describe(
        "The person who signed in to the console: the id at the issuer, after the email address if there is one, as in `ada@example.com (248289761001)`.",
      ),
    session_id: ConsoleSessionId.nullable().describe("The session in the console, if the request came from one."),
    operation: z
      .string()
      .describe(
        "The operation's id in this document, such as `updateAgent`, the operator's command, `recheckPerson` where the issuer of people changed the role of a session, or `rollBackCanary` where a canary broke its guards.",
      ),
    resource_type: z.string(),
    resource: z.string().nullable().describe("Id of the resource, or its name if it has no id."),
    agent_id: AgentId.nullable().describe("The agent that the resource belongs to."),
    address: z.string().nullable().describe("IP address that the request came from."),
    correlation_id: z.string().nullable().describe("`X-Correlation-Id` of the response."),
    outcome: z.enum(auditOutcomes).describe("`changed`: the change was made. `refused`: the request was refused."),
    details: z
      .object({
        fields: z.array(z.string()).optional().describe("Names of the fields in the request, never their values."),
        reason: z.string().optional().describe("Error code of a refused request."),
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
    .describe("Id of the resource, such as `agent_…`, `dep_…` or `key_…`, or the name of a provider."),
  outcome: z.enum(auditOutcomes).optional(),
  start_time: Instant.optional().describe("Only entries at this time or later."),
  end_time: Instant.optional().describe("Only entries before this time."),
  ...cursorQuery,
});
export type AuditQuery = z.output<typeof AuditQuery>;

export const auditOperations = {
  "GET /v1/audit-log": {
    id: "getAuditLog",
    tag: "Audit log",
    summary: "Get audit log",
    description:
      "Newest first. Entries are kept for 400 days. A key that is limited to one agent sees only that agent's entries. `total` is exact up to 10,000; above that, `total_relation` is `gte`.",
    permission: "manage",
    agents: "listed",
    query: AuditQuery,
    status: 200,
    response: cursorList(AuditEntry),
  },
} as const satisfies OperationTable;
export type AuditOperationKey = keyof typeof auditOperations;

/**
 * Operations that run or query agents without changing them. They leave no audit entry; runs and logs have their own
 * records.
 */
export const dataPlaneOperations: readonly string[] = [
  "invokeAgent",
  "cancelInvocation",
  "addLogs",
  "searchMemory",
  "checkAgent",
];
