import { Link } from "@tanstack/react-router";
import { Ago } from "../../../parts/ago.tsx";
import { keepSearch } from "../../../parts/change-search.ts";
import { classNames } from "../../../parts/class-names.ts";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { ApprovalStatusMark } from "../approval-status.tsx";
import { TimeLeft } from "../time-left.tsx";
import { WhyText } from "../why-text.tsx";
import type { ApprovalListRow } from "./merge-rows.ts";

/** The element id of a row, which the keyboard navigation uses. */
export const idOfRow = (id: string): string => `row-${id}`;

interface ApprovalRowProps {
  readonly row: ApprovalListRow;
  readonly isSelected: boolean;
  readonly now: Date;
}

const outside = "truncate [unicode-bidi:plaintext]";

/** The call, its agent, its reason, and the time left. On one line if there is room. */
export const ApprovalRow = ({ row: { approval, isGone }, isSelected, now }: ApprovalRowProps) => {
  const isOpen = approval.status === "open" && !isGone;
  return (
    <li className="border-line border-b">
      <Link
        id={idOfRow(approval.id)}
        data-row
        to="/approvals/$approval"
        params={{ approval: approval.id }}
        search={keepSearch()}
        replace={isSelected}
        aria-current={isSelected ? "true" : undefined}
        className={classNames(
          "grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-3 px-4 py-2 text-table outline-offset-[-2px]",
          "@3xl:grid-cols-[auto_minmax(0,2fr)_minmax(0,3fr)_minmax(0,1fr)_6rem_7rem] @3xl:py-1.5",
          isSelected ? "bg-accent-soft" : "hover:bg-sunken",
          !isOpen && "text-muted",
        )}
      >
        {isGone && approval.status === "open" ? (
          <StatusMark status="completed" word="decided" iconOnly />
        ) : (
          <ApprovalStatusMark status={approval.status} iconOnly />
        )}
        <span className={classNames("min-w-0", outside)}>
          <span className={isOpen ? "font-medium" : undefined}>{visibleText(approval.agent_name)}</span>{" "}
          <span className="text-muted">{approval.kind === "question" ? "asks through" : "wants"}</span>{" "}
          <code className="font-mono text-small">{visibleText(approval.tool)}</code>
        </span>
        <span className="text-right text-small @3xl:order-last">
          {isOpen ? (
            <TimeLeft until={approval.expires_at} now={now} />
          ) : (
            <span>{isGone && approval.status === "open" ? "decided" : approval.status}</span>
          )}
        </span>
        <span className={classNames("text-muted text-small @max-3xl:col-start-2 @3xl:text-table", outside)}>
          <WhyText why={approval.why} />
          {approval.user_id !== null && <span className="@3xl:hidden"> For {visibleText(approval.user_id)}.</span>}
        </span>
        <span className={classNames("min-w-0 text-muted text-small @max-3xl:hidden", outside)}>
          {visibleText(approval.user_id ?? "–")}
        </span>
        <span className="text-right text-muted text-small @max-3xl:col-start-3">
          <Ago at={approval.created_at} />
        </span>
      </Link>
    </li>
  );
};
