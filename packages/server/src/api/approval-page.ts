import { toPublicId } from "../platform/ids.ts";
import { type AnswerField, answerFieldOf } from "../resources/approvals/answer-field.ts";
import type { LinkedApproval } from "../resources/approvals/decide-by-link.ts";
import { createPage, row } from "./person-page.ts";
import { visibleHtml } from "./visible-html.ts";

/** The one answer to every invalid link, the same whatever the reason. */
export const invalidLinkPage = createPage("This link is not valid", [
  "<p>It may have been used, it may have expired, or the decision was made in another way. It may also be incomplete: open it as it was sent to you.</p>",
]);

export const decidedPage = (decision: string): string =>
  createPage("Thank you", [
    `<p>${visibleHtml(decision)} You can close this page. The link does not work any more.</p>`,
  ]);

/** For the holder of a valid link. */
export const refusedPage = (why: string): string => createPage("Nothing was decided", [`<p>${visibleHtml(why)}</p>`]);

/** Longer arguments are not shown whole, and so cannot be approved here: the hidden part might be the important one. */
const maxShown = 16_384;

const toText = (value: unknown): string => JSON.stringify(value, null, 2) ?? "null";

const block = (text: string): string => `<pre dir="auto">${visibleHtml(text)}</pre>`;

function answerInput(field: AnswerField): string {
  const label = '<label for="answer">Your answer</label>';
  if (field.type === "text")
    return `${label}<textarea id="answer" name="answer" rows="4" maxlength="10000"></textarea>`;
  if (field.type === "number") return `${label}<input id="answer" name="answer" inputmode="decimal" maxlength="32">`;
  const options = field.values.map((value, index) => `<option value="${index}">${visibleHtml(String(value))}</option>`);
  return `${label}<select id="answer" name="answer">${options.join("")}</select>`;
}

const button = (decision: string, text: string): string =>
  `<button type="submit" name="decision" value="${decision}">${text}</button>`;

const form = (digest: string, parts: readonly string[]): string =>
  [
    '<form method="post" action="">',
    `<input type="hidden" name="digest" value="${digest}">`,
    ...parts,
    '<label for="reason">Reason, if you reject it: the agent is told</label>',
    '<textarea id="reason" name="reason" rows="2" maxlength="2000"></textarea>',
    button("reject", "Reject"),
    "</form>",
  ].join("\n");

const idOf = ({ id }: LinkedApproval["approval"]): string => toPublicId("approval", id);

/** Why a link cannot decide, though it shows the approval. */
const elsewhere = ({ approvers, second_factor }: LinkedApproval["approval"]): string | undefined => {
  const how =
    "Decide with an API key that has the permission approve: perch approvals, or the API. If you have none, tell the sender of this link.";
  if (approvers > 1) return `${approvers} different keys or persons must approve this, so no link can. ${how}`;
  return second_factor ? `This needs a second factor, which a link does not have. ${how}` : undefined;
};

function decisionForm({ approval, call }: LinkedApproval, isWhole: boolean): string {
  const digest = approval.digest.toString("hex");
  const reason = elsewhere(approval);
  if (reason !== undefined) return `<p>${reason}</p>`;
  if (!isWhole)
    return `<p>This is too long to show here, so you can only reject it here. To approve it, a person with an API key that has the permission approve must look at it (perch approvals show ${idOf(approval)}).</p>${form(digest, [])}`;
  if (approval.kind === "tool") return form(digest, [button("approve", "Approve")]);
  const field = answerFieldOf(call.parameters);
  if (!field)
    return `<p>The answer has several parts, which this page cannot ask for. A person with an API key that has the permission approve can answer (perch approvals answer ${idOf(approval)}). You can reject the question here.</p>${form(digest, [])}`;
  return form(digest, [answerInput(field), button("answer", "Send the answer")]);
}

/** The part of the call that a person has to read. */
const shownOf = ({ approval, call }: LinkedApproval): string =>
  approval.kind === "question" ? (call.question ?? toText(call.arguments)) : toText(call.arguments);

/** Whether all of it fits on the page. */
export const isShownWhole = (linked: LinkedApproval): boolean => shownOf(linked).length <= maxShown;

export function approvalPage(linked: LinkedApproval): string {
  const { approval, agentName } = linked;
  const isQuestion = approval.kind === "question";
  const shown = shownOf(linked);
  const isWhole = isShownWhole(linked);
  return createPage(isQuestion ? "An agent asks you something" : "An agent asks for permission", [
    "<dl>",
    row("Agent", agentName),
    row("Environment", approval.environment),
    isQuestion ? "" : row("Tool", approval.tool),
    isQuestion ? "" : row("Why you are asked", approval.why),
    row("For the user", approval.user_id),
    row("Asked at", approval.created_at.toISOString()),
    row("Decide before", approval.expires_at.toISOString()),
    "</dl>",
    `<h2>${isQuestion ? "Question" : "Arguments"}</h2>`,
    block(isWhole ? shown : `${shown.slice(0, maxShown)}…`),
    decisionForm(linked, isWhole),
  ]);
}
