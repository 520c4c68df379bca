import type { ApprovalSummary } from "@perch/sdk";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { visibleText } from "../../../parts/visible-text.ts";

const verbOf = ({ kind, status }: ApprovalSummary): string => {
  if (kind === "question") return status === "open" ? "asks a question through" : "asked a question through";
  return status === "open" ? "wants to call" : "wanted to call";
};

/** The requested call in one sentence, for headings. */
export const CallSentence = ({ approval }: { readonly approval: ApprovalSummary }) => (
  <>
    <OutsideText text={approval.agent_name} className="font-semibold" /> {verbOf(approval)}{" "}
    <code className="font-mono text-table">
      <OutsideText text={approval.tool} />
    </code>
    {approval.user_id !== null && (
      <>
        {" "}
        for user <OutsideText text={approval.user_id} className="font-semibold" />
      </>
    )}
  </>
);

/** "call refund_order", "question of ask_shop": for the titles of dialogs. */
export const callName = ({ kind, tool }: ApprovalSummary): string =>
  kind === "question" ? `question of ${visibleText(tool)}` : `call of ${visibleText(tool)}`;
