import type { Approval } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { use, useState } from "react";
import { approvalQuery } from "../../api/approvals-queries.ts";
import { isNotFound } from "../../api/is-not-found.ts";
import { CloseButton } from "../../parts/close-button.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { useDetail } from "../../parts/use-detail.ts";
import { Working } from "../../parts/working.tsx";
import { ApprovalBody } from "./approval/approval-body.tsx";
import { CallSentence } from "./approval/call-sentence.tsx";
import { ApprovalStatusMark } from "./approval-status.tsx";
import { QueueContext } from "./queue-context.ts";
import { TimeLeft, useSeconds } from "./time-left.tsx";

interface HeaderProps {
  readonly Heading: "h1" | "h2";
  readonly approval: Approval | undefined;
  readonly now: Date;
  readonly onClose: () => void;
}

const Header = ({ Heading, approval, now, onClose }: HeaderProps) => (
  <header className="flex items-start gap-3 border-line border-b px-4 py-3">
    <div className="flex min-w-0 flex-1 flex-col gap-1">
      <Heading className="font-normal! text-body [overflow-wrap:anywhere]">
        {approval ? <CallSentence approval={approval} /> : "Approval"}
      </Heading>
      {approval && (
        <p className="flex flex-wrap items-center gap-x-3 text-table">
          <ApprovalStatusMark status={approval.status} />
          {approval.status === "open" && <TimeLeft until={approval.expires_at} now={now} />}
        </p>
      )}
    </div>
    <CloseButton what="the approval" onClose={onClose} />
  </header>
);

const NoApproval = ({ id }: { readonly id: string }) => (
  <EmptyState title="There is no such approval">
    <p>
      No approval <OutsideText text={id} className="font-mono text-table" /> can be reached. Decided ones are kept for
      30 days, so it may be older than that; or the id belongs to another agent or organisation.
    </p>
  </EmptyState>
);

/**
 * The approver approves exactly what they have seen: another user's change is shown only on request. The approver's own change is shown at
 * once.
 */
function Shown({ approval }: { readonly approval: Approval }) {
  const [seen, setSeen] = useState(approval);
  const isChanged = approval.status === "open" && seen.digest !== approval.digest;
  const shown = isChanged ? { ...approval, contents: seen.contents, digest: seen.digest } : approval;
  return (
    <ApprovalBody
      key={shown.digest}
      approval={shown}
      isChanged={isChanged}
      onLook={() => setSeen(approval)}
      onDecided={setSeen}
    />
  );
}

/** One approval: the call with its arguments and reason, and the decision. */
export function ApprovalPage() {
  const { approval: id } = useParams({ from: "/signed-in/approvals/$approval" });
  const { close } = use(QueueContext);
  const { data: approval, error, refetch } = useQuery(approvalQuery(id));
  const now = useSeconds(approval?.status === "open");
  const { ref, Heading } = useDetail(close, id);
  const isMissing = isNotFound(error);
  return (
    <div ref={ref} tabIndex={-1} className="flex h-full min-h-0 flex-col outline-none">
      <Header Heading={Heading} approval={approval} now={now} onClose={close} />
      {approval && <Shown key={id} approval={approval} />}
      {!approval && !error && <Working what="the approval" />}
      {isMissing && <NoApproval id={id} />}
      {error && !isMissing && (
        <div className="p-4">
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      )}
    </div>
  );
}
