import type { Approval } from "@perch/sdk";
import { Ago } from "../../../parts/ago.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { useMe } from "../../../session/session.ts";

type Decider = NonNullable<Approval["decided_by"]>;

const DeciderName = ({ by }: { readonly by: Decider }) => {
  const { key, session } = useMe();
  const isMe = session?.person ? by.type === "person" && by.name === session.person.email : by.key_id === key.id;
  if (isMe) return <>you</>;
  return (
    <>
      {by.type === "link" ? "a person with the link sent to" : `the ${by.type}`} <OutsideText text={by.name} />
    </>
  );
};

const consequences: Record<Approval["status"], string> = {
  open: "",
  approved: "The call was allowed, and the run went on.",
  answered: "The answer became the result of the call, and the run went on.",
  rejected: "The call was not made, and the model was informed.",
  expired: "No decision was made in time. That counts as a rejection: the model was informed, and the run went on.",
  cancelled: "The run was cancelled, its agent deleted or its user erased, so there is nothing to decide.",
};

/** The outcome, and who decided it. */
export const DecisionNote = ({ approval }: { readonly approval: Approval }) => (
  <div className="rounded border border-line bg-sunken px-3 py-2 text-table">
    <p>
      <span className="font-medium capitalize">{approval.status}</span>
      {approval.decided_by && (
        <>
          {" "}
          by <DeciderName by={approval.decided_by} />
        </>
      )}
      {approval.decided_at && (
        <>
          {" "}
          <Ago at={approval.decided_at} />
        </>
      )}
      {approval.edited && approval.status === "approved" && ", with other arguments"}. {consequences[approval.status]}
    </p>
    {approval.contents?.reason && (
      <p className="mt-1 text-muted">
        Reason: <OutsideText text={approval.contents.reason} />
      </p>
    )}
  </div>
);

/** The approvals so far, if one is not enough. */
export function ApproversNote({ approval }: { readonly approval: Approval }) {
  const { approvers, approved_by, status } = approval;
  if (approvers === 1 || status !== "open") return null;
  return (
    <div className="text-table">
      <p>
        {approvers} different keys or persons must approve. {approved_by.length} of them{" "}
        {approved_by.length === 1 ? "has" : "have"}.
      </p>
      {approved_by.length > 0 && (
        <ul className="list-disc pl-5 text-muted">
          {approved_by.map(({ by, at }) => (
            <li key={at}>
              Approved by <DeciderName by={by} /> <Ago at={at} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
