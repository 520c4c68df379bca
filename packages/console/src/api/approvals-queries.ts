import type { Approval, QueryOf } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { cursorPages } from "./paged.ts";
import { perch } from "./perch.ts";

export type ApprovalFilter = Pick<QueryOf<"GET /v1/approvals">, "status" | "kind" | "agent_id" | "user_id">;

const list = (query: QueryOf<"GET /v1/approvals">, signal: AbortSignal) =>
  perch.request("GET /v1/approvals", { query }, { signal });

/** The list as it was when it was first shown. `generation` separates one listing from the next with the same filter. */
export const approvalPagesQuery = (filter: ApprovalFilter, generation: number) => ({
  ...cursorPages(["approvals", "pages", filter, generation], (page, signal) => list({ ...filter, ...page }, signal)),
  // Rows that appear or disappear would move the row that the approver is about to press.
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: 0,
});

const newestMs = 3000;

/** The newest approvals now, to find those added or decided since the list was loaded. */
export const newestApprovalsQuery = (filter: ApprovalFilter) =>
  queryOptions({
    queryKey: ["approvals", "newest", filter],
    queryFn: ({ signal }) => list({ ...filter, limit: 100 }, signal),
    refetchInterval: newestMs,
  });

const openMs = 15_000;

/** The number of open approvals that the caller can see. */
export const openApprovalsQuery = queryOptions({
  queryKey: ["approvals", "open"],
  queryFn: async ({ signal }) => (await list({ limit: 1 }, signal)).open,
  refetchInterval: openMs,
});

/** The approvals that a run waits for. */
export const approvalsOfRunQuery = (run: string) =>
  queryOptions({
    queryKey: ["approvals", "run", run],
    queryFn: async ({ signal }) => (await list({ request_id: run, status: "open", limit: 100 }, signal)).data,
    refetchInterval: newestMs,
  });

const detailMs = 2500;

/** One approval. While it is open, another approver may decide it. */
export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ["approvals", "one", id],
    queryFn: ({ signal }): Promise<Approval> => perch.approvals.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === "open" ? detailMs : false),
  });
