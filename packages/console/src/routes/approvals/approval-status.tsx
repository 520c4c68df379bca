import type { ApprovalSummary } from "@perch/sdk";
import { type MarkedStatus, StatusMark } from "../../parts/status-mark.tsx";

const marks: Record<ApprovalSummary["status"], MarkedStatus> = {
  open: "waiting",
  approved: "active",
  answered: "active",
  rejected: "failed",
  expired: "cancelled",
  cancelled: "cancelled",
};

interface ApprovalStatusMarkProps {
  readonly status: ApprovalSummary["status"];
  readonly iconOnly?: boolean;
}

export const ApprovalStatusMark = ({ status, iconOnly = false }: ApprovalStatusMarkProps) => (
  <StatusMark status={marks[status]} word={status} iconOnly={iconOnly} />
);
