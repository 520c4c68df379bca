import type { Approval, ApprovalStatus, ApprovalSummary, Decider } from "@perch/contract";
import type { WaitingState } from "../waiting-runs/waiting-state.ts";
import { actionRequiredData } from "./action-required-event.ts";
import type { ApprovalRow, ApprovalSummaryRow, Vote } from "./approval-queries.ts";
import type { ApprovalCall, ApprovalDecision } from "./seal-approval.ts";

export const votesOf = ({ votes }: Pick<ApprovalRow, "votes">): readonly Vote[] => votes as unknown as Vote[];

/** `by` is written out: rows contain more than answers show. */
const toDecider = ({ type, key_id, webhook_id, name }: Decider): Decider => ({ type, key_id, webhook_id, name });

export const toApprovalSummary = (row: ApprovalSummaryRow): ApprovalSummary => ({
  ...actionRequiredData(row, row.agent_name),
  status: row.status as ApprovalStatus,
  approved_by: votesOf(row).map(({ by, at }) => ({ by: toDecider(by), at })),
  decided_at: row.decided_at?.toISOString() ?? null,
  decided_by: row.decided_by === null ? null : toDecider(row.decided_by as Decider),
  edited: row.edited,
});

type Contents = NonNullable<Approval["contents"]>;
type PastStep = Contents["history"][number];

/** So that an approval can be read at a glance, and its answer stays small whatever the run did. */
const maxText = 4000;
const maxArgumentsText = 4000;
const maxSteps = 50;

const truncateText = (text: string): string => (text.length > maxText ? `${text.slice(0, maxText)}…` : text);

const truncateArguments = (args: unknown): unknown => {
  const text = JSON.stringify(args) ?? "null";
  return text.length > maxArgumentsText ? `${text.slice(0, maxArgumentsText)}…` : args;
};

/**
 * The run's own messages: a session's earlier turns, and recalled memories, come before the message that started it.
 */
const messagesOfRun = ({ messages }: WaitingState["progress"]) =>
  messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);

/** The run's history before the calls that it waits for, with the calls of the same reply that needed no approval. */
export function toHistory(
  { progress, reply, results }: WaitingState,
  { step, isCurrent }: { step: number; isCurrent: boolean },
) {
  const messages = messagesOfRun(progress);
  const steps = messages.flatMap((message, position): Omit<PastStep, "step">[] => {
    if (message.role !== "assistant") return [];
    const calls = (message.toolCalls ?? []).map(({ id, name, arguments: args }) => {
      // The first one after it: some models use the same ids in every reply.
      const result = messages.slice(position).find((each) => each.role === "tool" && each.callId === id);
      const { content, failed } = result?.role === "tool" ? result : { content: null, failed: false };
      return {
        tool: name,
        arguments: truncateArguments(args),
        result: content === null ? null : truncateText(content),
        failed: failed ?? false,
      };
    });
    return [{ text: truncateText(message.content), calls }];
  });
  const before: PastStep[] = steps.map((each, i) => ({ step: i + 1, ...each })).filter((each) => each.step < step);
  if (!isCurrent || !reply) return before.slice(-maxSteps);
  const calls = reply.toolCalls.flatMap(({ name, arguments: args }, i) => {
    const result = results[i];
    return result
      ? [
          {
            tool: name,
            arguments: truncateArguments(args),
            result: truncateText(result.content),
            failed: result.failed ?? false,
          },
        ]
      : [];
  });
  return [...before, { step, text: truncateText(reply.text), calls }].slice(-maxSteps);
}

interface OpenedApproval {
  readonly message: string;
  readonly call: ApprovalCall;
  readonly decision: ApprovalDecision;
  readonly history: PastStep[];
}

export const toContents = (row: ApprovalRow, { message, call, decision, history }: OpenedApproval): Contents => ({
  message,
  arguments: decision.arguments ?? call.arguments,
  ...(row.edited && { original_arguments: call.arguments }),
  parameters: call.parameters as Contents["parameters"],
  question: call.question,
  ...(decision.answer !== undefined && { answer: decision.answer }),
  reason: decision.reason ?? null,
  history: history,
});
