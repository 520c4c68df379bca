import type { Approval } from "@perch/sdk";
import type { Decision } from "./use-decide.ts";

/** The state after the decision, in a sentence or two. An approval of changed arguments counts as the first. */
export function consequence(
  { approvers, approved_by }: Pick<Approval, "approvers" | "approved_by">,
  verdict: Decision["verdict"],
  isEdited: boolean,
): string {
  if (verdict === "reject") return "The call is not made, and the model is informed. The run goes on.";
  if (verdict === "answer") return "The answer is the result of the model's call, and the run goes on.";
  const which = isEdited ? "the arguments as you changed them" : "the arguments that you see";
  const missing = approvers - (isEdited ? 0 : approved_by.length) - 1;
  if (missing <= 0) return `The call is made with ${which}, and the run goes on.`;
  const counts = `Your approval counts for ${which}. ${missing} more must approve them before the call is made.`;
  return isEdited && approved_by.length > 0 ? `${counts} The approvals so far do not count for them.` : counts;
}
