import type { ApprovalSummary } from "@perch/sdk";

export interface ApprovalListRow {
  readonly approval: ApprovalSummary;
  /** It no longer has the status of the list: it was decided, or it expired. */
  readonly isGone: boolean;
}

interface Newest {
  readonly data: readonly ApprovalSummary[];
  readonly pagination: { readonly next_cursor: string | null };
}

interface MergedRows {
  readonly rows: readonly ApprovalListRow[];
  readonly newCount: number;
}

/**
 * The listed rows in their places, with their new values, and the number of newer rows above them. Ids begin with the time, so the newest
 * page shows for every id down to its last one whether it still belongs to the list. With an environment, only its own rows are shown and
 * counted.
 */
export function mergeRows(
  listed: readonly ApprovalSummary[],
  newest: Newest | undefined,
  environment?: string,
): MergedRows {
  const isShown = (approval: ApprovalSummary) => environment === undefined || approval.environment === environment;
  const shown = listed.filter(isShown);
  if (!newest) return { rows: shown.map((approval) => ({ approval, isGone: false })), newCount: 0 };
  const byId = new Map(newest.data.map((approval) => [approval.id as string, approval]));
  const oldestSeen = newest.pagination.next_cursor === null ? "" : (newest.data.at(-1)?.id ?? "~");
  const rows = shown.map((approval) => ({
    approval: byId.get(approval.id) ?? approval,
    isGone: !byId.has(approval.id) && approval.id >= oldestSeen,
  }));
  const known = new Set(listed.map(({ id }) => id as string));
  const oldestListed = listed.at(-1)?.id ?? "";
  const added = newest.data.filter(({ id }) => !known.has(id) && id > oldestListed);
  return { rows, newCount: added.filter(isShown).length };
}

/** The next open approval after this one; after the last, the first one that was skipped above. */
export function nextOpen(rows: readonly ApprovalListRow[], id: string | undefined): string | undefined {
  const at = rows.findIndex(({ approval }) => approval.id === id);
  const isOpen = ({ approval, isGone }: ApprovalListRow) => approval.status === "open" && !isGone && approval.id !== id;
  return [...rows.slice(at + 1), ...rows.slice(0, Math.max(at, 0))].find(isOpen)?.approval.id;
}
