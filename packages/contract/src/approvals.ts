import { z } from "zod";
import { optionalWholeNumber, single, Timestamp, uncountedList, uncountedQuery } from "./envelopes.ts";
import { AgentId, AgentRef, ApprovalId, KeyId, RequestId, WebhookId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

export const approvalStatuses = ["open", "approved", "rejected", "answered", "expired", "cancelled"] as const;
export const ApprovalStatus = z
  .enum(approvalStatuses)
  .describe(
    "`answered`: the question was answered. `expired`: no decision came in time, which counts as rejected. `cancelled`: the run was cancelled, its agent deleted, or its user erased.",
  )
  .meta({ id: "ApprovalStatus" });
export type ApprovalStatus = z.infer<typeof ApprovalStatus>;

export const approvalKinds = ["tool", "question"] as const;
export const ApprovalKind = z
  .enum(approvalKinds)
  .describe("`tool`: permission for a call. `question`: an answer, which the agent asked for.")
  .meta({ id: "ApprovalKind" });
export type ApprovalKind = z.infer<typeof ApprovalKind>;

const Decider = z
  .object({
    type: z.enum(["key", "person", "link"]).describe("`link`: a person with the link from a webhook delivery."),
    key_id: KeyId.nullable(),
    webhook_id: WebhookId.nullable().describe("Of a link: the webhook that it was delivered to."),
    name: z.string().describe("Name of the key, the person's address, or the host that the link was delivered to."),
  })
  .meta({ id: "Decider" });
export type Decider = z.infer<typeof Decider>;

export const ApprovalSummary = z
  .object({
    id: ApprovalId,
    kind: ApprovalKind,
    status: ApprovalStatus,
    agent_id: AgentId,
    agent_name: z.string(),
    request_id: RequestId.describe("The run that waits."),
    environment: z.string(),
    version: z.string().nullable(),
    user_id: z.string().nullable(),
    session_id: z.string().nullable(),
    tool: z.string().describe("The tool that the model calls."),
    step: z.int().describe("Number of the model call that made the call."),
    call: z.int().describe("Number of the call within the step."),
    why: z.string().describe("Which rule of the agent's definition asks for a person."),
    digest: z.string().describe("Of the tool and the arguments as they are now: an edit changes it."),
    approvers: z.int().describe("How many different keys or persons must approve."),
    approved_by: z.array(z.object({ by: Decider, at: Timestamp })).describe("Those who have approved so far."),
    second_factor: z.boolean().describe("Whether a decision needs a code in `X-MFA-Code`."),
    created_at: Timestamp,
    expires_at: Timestamp,
    decided_at: Timestamp.nullable(),
    decided_by: Decider.nullable().describe(
      "Who decided last. null while it is open, and if it ended without a decision.",
    ),
    edited: z.boolean().describe("Whether a person changed the arguments."),
  })
  .meta({ id: "ApprovalSummary" });
export type ApprovalSummary = z.infer<typeof ApprovalSummary>;

const PastCall = z.object({
  tool: z.string(),
  arguments: z.unknown(),
  result: z.string().nullable(),
  failed: z.boolean(),
});

export const Approval = ApprovalSummary.extend({
  can_decide: z
    .boolean()
    .describe(
      "Whether the caller has the permission `approve`, and the agent's policy accepts its decision: the caller did not start the run, or the policy has `invoker_may_decide`. The approval's status, a second factor and earlier approvals are not considered.",
    ),
  contents: z
    .object({
      message: z.string().describe("The message that started the run."),
      arguments: z.unknown().describe("The arguments as they would be sent now."),
      original_arguments: z.unknown().optional().describe("As the model wrote them, where a person changed them."),
      parameters: z.looseObject({}).describe("JSON Schema of the arguments, or of the answer to a question."),
      question: z.string().nullable(),
      answer: z.unknown().optional(),
      reason: z.string().nullable().describe("Why it was rejected, as the model was told."),
      history: z
        .array(z.object({ step: z.int(), text: z.string(), calls: z.array(PastCall) }))
        .describe("What the run did before, the newest last. Long texts are cut."),
    })
    .nullable()
    .describe(
      "What a decision is about: for keys and persons with the permission `approve`. null for others, and where the user was erased.",
    ),
}).meta({ id: "Approval" });
export type Approval = z.infer<typeof Approval>;

const ShortText = z.string().min(1).max(256);

const ApprovalQuery = z.strictObject({
  ...uncountedQuery,
  status: ApprovalStatus.optional(),
  kind: ApprovalKind.optional(),
  agent_id: AgentRef.min(1).max(128).optional().describe("Only approvals of this agent (id or name)."),
  request_id: RequestId.optional().describe("Only approvals of this run."),
  tool: ShortText.optional(),
  user_id: ShortText.optional(),
  session_id: ShortText.optional(),
  expires_within_seconds: optionalWholeNumber({
    min: 0,
    max: 2_592_000,
    description: "Only open ones that expire within this time.",
  }),
});
export type ApprovalQuery = z.output<typeof ApprovalQuery>;

const params = z.strictObject({ approval_id: z.string() });
const tag = "Approvals";
const errors = ["not_found", "conflict"] as const;
const idempotent =
  "Deciding again in the same way gives the first answer; in another way it is refused with 409. The key or person that started the run is refused, unless the agent's policy allows it.";

const maxReason = 2000;

export const approvalOperations = {
  "GET /v1/approvals": {
    id: "listApprovals",
    tag,
    summary: "List approvals",
    description:
      "Newest first. A request reads a bounded number of rows: where a filter matches few, a page can be short or empty, and `next_cursor` continues. Decided ones are kept for 30 days, and at least until their run has ended.",
    permission: "read",
    query: ApprovalQuery,
    status: 200,
    response: uncountedList(ApprovalSummary).extend({
      open: z
        .object({ count: z.int(), relation: z.enum(["eq", "gte"]) })
        .describe(
          "How many approvals are open that the caller can see, of one agent if `agent_id` is given; no other filter counts. Up to 1,000 are counted. `relation` is `gte` where there may be more.",
        ),
    }),
    errors: ["not_found"],
  },
  "GET /v1/approvals/{approval_id}": {
    id: "getApproval",
    tag,
    summary: "Get approval",
    description: "What the model wants to do, why a person is asked, and what the run did so far.",
    permission: "read",
    params,
    status: 200,
    response: single(Approval),
    errors: ["not_found"],
  },
  "POST /v1/approvals/{approval_id}/approve": {
    id: "approveApproval",
    tag,
    summary: "Approve a call",
    description: `The call is made, and the run goes on once all calls of its reply are decided. With \`arguments\` the call is made with these instead; they are checked against the tool's schema. ${idempotent}`,
    permission: "approve",
    params,
    body: z
      .strictObject({
        digest: z
          .string()
          .max(64)
          .optional()
          .describe(
            "`digest` of what you looked at: if it has changed since, the answer is 409. Required where more than one must approve.",
          ),
        arguments: z.looseObject({}).optional().describe("Replaces the arguments of the call."),
      })
      .meta({ id: "ApproveApproval" }),
    status: 200,
    response: single(Approval),
    errors,
  },
  "POST /v1/approvals/{approval_id}/reject": {
    id: "rejectApproval",
    tag,
    summary: "Reject a call",
    description: `The call is not made, and the model is told so, with the reason. A question can be rejected too. ${idempotent}`,
    permission: "approve",
    params,
    body: z
      .strictObject({ reason: z.string().max(maxReason).optional().describe("What the model is told.") })
      .meta({ id: "RejectApproval" }),
    status: 200,
    response: single(Approval),
    errors,
  },
  "POST /v1/approvals/{approval_id}/answer": {
    id: "answerApproval",
    tag,
    summary: "Answer a question",
    description: `The answer, which is checked against the schema in the agent's definition, is the result of the model's call. ${idempotent}`,
    permission: "approve",
    params,
    body: z
      .strictObject({ answer: z.unknown().refine((answer) => answer !== undefined, "Expected an answer") })
      .meta({ id: "AnswerApproval" }),
    status: 200,
    response: single(Approval),
    errors,
  },
} as const satisfies OperationTable;
export type ApprovalOperationKey = keyof typeof approvalOperations;
