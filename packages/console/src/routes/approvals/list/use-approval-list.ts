import type { Approval } from "@perch/sdk";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import { approvalPagesQuery, approvalQuery, newestApprovalsQuery } from "../../../api/approvals-queries.ts";
import { filterOf } from "../approvals-search.ts";
import { type ApprovalListRow, mergeRows } from "./merge-rows.ts";

/** The list for the address. Rows stay in their places; `refresh` shows the new ones. */
export function useApprovalList() {
  const { agent, status, kind, user, env } = useSearch({ from: "/signed-in/approvals" });
  const filter = useMemo(() => filterOf({ agent, status, kind, user }), [agent, status, kind, user]);
  const client = useQueryClient();
  const [generation, setGeneration] = useState(0);
  const pages = useInfiniteQuery(approvalPagesQuery(filter, generation));
  const { data: newest } = useQuery(newestApprovalsQuery(filter));
  const listed = useMemo(() => pages.data?.pages.flatMap(({ data }) => data) ?? [], [pages.data]);
  const merged = useMemo(() => mergeRows(listed, newest, env), [listed, newest, env]);
  /** An approval that was decided or opened here has newer data from its own page. */
  const withDetail = (row: ApprovalListRow): ApprovalListRow => {
    const known = client.getQueryData<Approval>(approvalQuery(row.approval.id).queryKey);
    return known && known.status !== "open" ? { ...row, approval: known } : row;
  };
  const rows = merged.rows.map(withDetail);
  const refresh = () => setGeneration((before) => before + 1);
  // An empty list can show new rows at once, because they push nothing away.
  const isFilledAnew = rows.length === 0 && merged.newCount > 0;
  useEffect(() => {
    if (isFilledAnew) setGeneration((before) => before + 1);
  }, [isFilledAnew]);
  return { pages, rows, newCount: isFilledAnew ? 0 : merged.newCount, refresh };
}
