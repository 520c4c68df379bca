import type { Approval } from "@perch/sdk";
import { use, useRef, useState } from "react";
import { usePageKeys } from "../../../frame/page-keys.ts";
import { Button } from "../../../parts/button.tsx";
import { MayNot } from "../../../parts/may-not.tsx";
import { LeaveGuard } from "../../../session/leave-guard.tsx";
import { useCan } from "../../../session/session.ts";
import { QueueContext } from "../queue-context.ts";
import { WhyText } from "../why-text.tsx";
import { ApprovalFacts } from "./approval-facts.tsx";
import { ArgumentsSection } from "./arguments-section.tsx";
import { consequence } from "./consequence.ts";
import { DecideBar, useHasApproved, useRefusal } from "./decide-bar.tsx";
import { DecideDialog } from "./decide-dialog.tsx";
import { ApproversNote, DecisionNote } from "./decision-note.tsx";
import { QuestionSection } from "./question-section.tsx";
import { RunHistory } from "./run-history.tsx";
import { type Decision, useDecide } from "./use-decide.ts";
import { useDraft } from "./use-draft.ts";

interface ApprovalBodyProps {
  readonly approval: Approval;
  /** The shown approval has changed since. */
  readonly isChanged: boolean;
  readonly onLook: () => void;
  readonly onDecided: (approval: Approval) => void;
}

/** The facts that a decision needs, and the ways to decide. */
export function ApprovalBody({ approval, isChanged, onLook, onDecided }: ApprovalBodyProps) {
  const { contents, kind } = approval;
  const box = useRef<HTMLDivElement>(null);
  const { openNext } = use(QueueContext);
  const decide = useDecide(approval);
  const refusal = useRefusal(approval);
  const canApprove = useCan("approve");
  const canDecide = canApprove && approval.status === "open" && refusal === undefined;
  const [isEditing, setIsEditing] = useState(false);
  const [verdict, setVerdict] = useState<Decision["verdict"]>("approve");
  const [isAsking, setIsAsking] = useState(false);
  const isQuestion = kind === "question";
  const draft = useDraft(contents?.parameters ?? {}, isQuestion ? undefined : contents?.arguments);
  const isEdited = isEditing && draft.isChanged;
  const isMine = useHasApproved(approval) && !isEdited;
  const isUnsaved = canDecide && (isEdited || (isQuestion && draft.isChanged));

  const ask = (next: Decision["verdict"]) => {
    setVerdict(next);
    setIsAsking(true);
  };
  const approve = () => {
    if ((isQuestion || isEdited) && !draft.check())
      return requestAnimationFrame(() => box.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
    ask(isQuestion ? "answer" : "approve");
  };
  const edit = (next: boolean) => {
    draft.change(contents?.arguments);
    setIsEditing(next);
  };
  usePageKeys(
    canDecide
      ? [
          ...(isMine || isChanged
            ? []
            : [{ key: "a", what: isQuestion ? "Answer the question" : "Approve the call", run: approve }]),
          { key: "n", what: isQuestion ? "Reject the question" : "Reject the call", run: () => ask("reject") },
          ...(isQuestion || isChanged ? [] : [{ key: "e", what: "Edit the arguments", run: () => setIsEditing(true) }]),
        ]
      : [],
  );
  const decisionOf = (reason: string): Decision => {
    if (verdict === "reject") return { verdict, reason };
    if (verdict === "answer") return { verdict, answer: draft.value };
    return { verdict, ...(isEdited && { arguments: draft.value as Record<string, unknown> }) };
  };
  const onDecide = async ({ reason, code }: { readonly reason: string; readonly code: string }) => {
    try {
      const decided = await decide(decisionOf(reason), code);
      setIsEditing(false);
      onDecided(decided);
      if (decided.status !== "open") openNext(approval.id);
    } catch (error) {
      draft.refuse(error);
      throw error;
    }
  };
  return (
    <>
      <div ref={box} className="@container flex min-h-0 flex-1 flex-col gap-4 overflow-auto px-4 py-3">
        <div role="status" className="empty:-mb-4">
          {approval.status !== "open" && <DecisionNote approval={approval} />}
        </div>
        {isChanged && approval.status === "open" && (
          <div
            role="alert"
            className="flex flex-wrap items-center gap-3 rounded border border-warning bg-warning-soft px-3 py-2 text-table"
          >
            Another approver has changed the arguments since you opened this.
            {isEdited && " Your own changes are discarded when you look at the new ones."}
            <Button onClick={onLook}>Show the new arguments</Button>
          </div>
        )}
        {!isQuestion && (
          <p className="text-table">
            <span className="text-muted">Why a person is asked: </span>
            <WhyText why={approval.why} />
          </p>
        )}
        <ApproversNote approval={approval} />
        {contents === null && <NoContents canApprove={canApprove} />}
        {contents && (
          <div className="grid gap-x-6 gap-y-4 @2xl:grid-cols-2">
            {isQuestion ? (
              <QuestionSection contents={contents} draft={draft} canAnswer={canDecide} onSubmit={approve} />
            ) : (
              <ArgumentsSection {...{ contents, draft, isEditing }} canEdit={canDecide && !isChanged} onEdit={edit} />
            )}
            <RunHistory contents={contents} />
          </div>
        )}
        <ApprovalFacts approval={approval} />
      </div>
      <DecideBar {...{ approval, isEdited, isMine, isChanged }} onApprove={approve} onReject={() => ask("reject")} />
      <DecideDialog
        key={verdict}
        {...{ approval, verdict, onDecide }}
        open={isAsking}
        onClose={() => setIsAsking(false)}
        description={consequence(approval, verdict, isEdited)}
      />
      <LeaveGuard
        isDirty={isUnsaved}
        description={`Nothing is decided yet. ${isQuestion ? "Your answer is" : "Your changes to the arguments are"} lost when you leave this approval.`}
      />
    </>
  );
}

const NoContents = ({ canApprove }: { readonly canApprove: boolean }) =>
  canApprove ? (
    <p className="text-muted">The user was erased, and the contents of this approval with them.</p>
  ) : (
    <MayNot what="see what this is about, or decide" permission="approve" />
  );
