import type { Approval } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Keys } from "../../../frame/keys.tsx";
import { Button } from "../../../parts/button.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";
import { useCan, useMe } from "../../../session/session.ts";

/** Whether the signed-in person has already approved, if several approvals are needed. */
export function useHasApproved({ approved_by }: Approval): boolean {
  const { key, session } = useMe();
  return approved_by.some(({ by }) =>
    session?.person ? by.type === "person" && by.name === session.person.email : by.key_id === key.id,
  );
}

/** The reason why the signed-in user cannot decide; undefined if they can. */
export function useRefusal(approval: Approval): ReactNode | undefined {
  const me = useMe();
  if (!approval.can_decide)
    return (
      <>
        You started this run, so another person must decide, or another key with the permission{" "}
        <code className="font-mono">approve</code>. For later runs,{" "}
        <code className="font-mono">invoker_may_decide</code> in the agent's policy allows it.
      </>
    );
  if (approval.second_factor && me.session?.person)
    return "This needs a second factor, which belongs to an API key, and you are signed in as a person. Sign in with an API key that has one, or send the request with that key.";
  if (approval.second_factor && !me.key.second_factor)
    return (
      <>
        This needs a second factor, and your key has none.{" "}
        <Link to="/settings/second-factor" className={textLinkClass}>
          Enrol a second factor
        </Link>{" "}
        first.
      </>
    );
  return undefined;
}

interface DecideBarProps {
  readonly approval: Approval;
  /** Whether the person has changed the arguments. */
  readonly isEdited: boolean;
  /** The person has approved these arguments, and others must too. */
  readonly isMine: boolean;
  /** The shown arguments have changed, so the approver must look at them again first. */
  readonly isChanged: boolean;
  readonly onApprove: () => void;
  readonly onReject: () => void;
}

/** Approve is at one edge of the page and reject at the other. */
export function DecideBar({ approval, isEdited, isMine, isChanged, onApprove, onReject }: DecideBarProps) {
  const refusal = useRefusal(approval);
  if (!useCan("approve") || approval.status !== "open") return null;
  if (refusal !== undefined) return <p className="border-line border-t px-4 py-3 text-muted text-table">{refusal}</p>;
  const isQuestion = approval.kind === "question";
  return (
    <fieldset
      aria-label="Decide"
      className="flex shrink-0 items-center justify-between gap-4 border-line border-t bg-surface px-4 py-3"
    >
      {isMine || isChanged ? (
        <p className="text-muted text-table">
          {isMine ? "You have approved this; others must too." : "Look at the new arguments first."}
        </p>
      ) : (
        <Button kind="primary" className="max-lg:h-11 max-lg:px-4" onClick={onApprove} aria-keyshortcuts="a">
          {isQuestion ? "Answer question" : isEdited ? "Approve with changes" : "Approve call"}
          <Keys keys="a" className="max-lg:hidden" />
        </Button>
      )}
      <Button kind="danger" className="max-lg:h-11 max-lg:px-4" onClick={onReject} aria-keyshortcuts="n">
        {isQuestion ? "Reject question" : "Reject call"}
        <Keys keys="n" className="max-lg:hidden" />
      </Button>
    </fieldset>
  );
}
