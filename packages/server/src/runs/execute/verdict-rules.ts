import type { ModelReply, ToolCall } from "../../outbound/models/model.ts";
import { failedResult, type ToolResult } from "../../outbound/tools/tool.ts";
import type { Resumed, Verdict } from "./run-suspension.ts";

/** As the model reads it. A person's words are quoted, so that they do not pass for ours. */
const because = ({ reason }: Verdict): string => (reason ? ` The reason: ${JSON.stringify(reason)}` : "");

/** The result that the model gets for a call that is not made; undefined if it is made. */
function resultOf(verdict: Verdict | undefined): ToolResult | undefined {
  if (verdict?.status === "approved") return undefined;
  if (verdict?.status === "answered") {
    const { answer } = verdict;
    return { content: typeof answer === "string" ? answer : JSON.stringify(answer), failed: false };
  }
  if (verdict?.status === "expired")
    return failedResult("No decision came in time, so the call was not made.", "No decision came in time.");
  if (!verdict) return failedResult("The decision about this call is not known any more, so it was not made.");
  return failedResult(
    `A person rejected this call, and it was not made.${because(verdict)}`,
    "A person rejected the call.",
  );
}

const withArguments = (call: ToolCall, verdict: Verdict | undefined): ToolCall =>
  verdict?.status === "approved" && verdict.arguments !== undefined ? { ...call, arguments: verdict.arguments } : call;

/** The reply with the arguments that were approved, and the results that are known without a call: null for calls to make now. */
export function applyVerdicts({ state, verdicts }: Resumed): {
  readonly reply: ModelReply;
  readonly results: readonly (ToolResult | null)[];
} {
  const reply = state.reply ?? { text: "", toolCalls: [], tokens: 0 };
  const verdictOf = (index: number) => verdicts.find(({ callNumber }) => callNumber === index + 1);
  return {
    reply: { ...reply, toolCalls: reply.toolCalls.map((call, index) => withArguments(call, verdictOf(index))) },
    results: reply.toolCalls.map((_, index) => state.results[index] ?? resultOf(verdictOf(index)) ?? null),
  };
}

const changed = "[A person changed the arguments of this call before approving it.]";

/** Tells the model which calls were made with other arguments than it asked for. */
export const noteEdits = (
  results: readonly (ToolResult | null)[],
  verdicts: readonly Verdict[],
): readonly (ToolResult | null)[] =>
  results.map((result, index) => {
    const isEdited = verdicts.some(
      ({ callNumber, status, arguments: given }) =>
        callNumber === index + 1 && status === "approved" && given !== undefined,
    );
    return result && isEdited ? { ...result, content: `${changed}\n${result.content}` } : result;
  });
